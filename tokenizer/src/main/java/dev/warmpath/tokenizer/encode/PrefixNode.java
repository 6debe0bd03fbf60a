package dev.warmpath.tokenizer.encode;

import dev.warmpath.kvindex.block.BlockRun;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A piece of the beginning of texts: its characters, its tokens, and where it stands.
 *
 * <p>Thread-safe; the links of the order of use belong to the tree.
 */
public final class PrefixNode {

  /** What a node takes besides text, tokens and hashes, about. */
  private static final int NODE_BYTES = 480;

  private final PrefixTree tree;
  private final @Nullable PrefixNode parent;
  private final String piece;
  private final int end;
  private final int endTokens;
  private final int[] tokenIds;
  private volatile @Nullable BlockRun blocks;

  private final long bytesWithoutBlocks;

  /* Guarded by the tree's lock. */
  final Set<PrefixNode> children = new LinkedHashSet<>(1);
  long chargedBytes;
  @Nullable PrefixNode previous;
  @Nullable PrefixNode next;
  long lastUse;
  final long fingerprint;

  PrefixNode(
      PrefixTree tree,
      @Nullable PrefixNode parent,
      long fingerprint,
      String piece,
      int end,
      int[] tokenIds) {
    this.tree = tree;
    this.parent = parent;
    this.fingerprint = fingerprint;
    this.piece = piece;
    this.end = end;
    this.tokenIds = tokenIds;
    this.endTokens = (parent == null ? 0 : parent.endTokens) + tokenIds.length;
    this.bytesWithoutBlocks = weigh(piece, tokenIds);
  }

  /** The node of the characters before; null if this is where texts begin. */
  public @Nullable PrefixNode parent() {
    return parent;
  }

  /** Where the node's text begins. */
  public int start() {
    return parent == null ? 0 : parent.end;
  }

  /** Where the node's text ends. */
  public int end() {
    return end;
  }

  /** The tokens of the text up to here. */
  public int endTokens() {
    return endTokens;
  }

  /** Copies the tokens {@code [from, to)} of the text, as far as it is known here. */
  public void copyTokens(int from, int to, int[] target) {
    for (PrefixNode node = this; node != null && node.endTokens > from; node = node.parent) {
      int start = node.endTokens - node.tokenIds.length;
      int first = Math.max(from, start);
      int count = Math.min(to, node.endTokens) - first;
      if (count > 0) {
        System.arraycopy(node.tokenIds, first - start, target, first - from, count);
      }
    }
  }

  /** The hashes of the blocks that end in this node, in the space they were asked for last. */
  public @Nullable BlockRun blocks() {
    return blocks;
  }

  /** Remembers hashes. */
  public void blocks(BlockRun run) {
    blocks = run;
    tree.weighAgain(this);
  }

  /** The text of the node and as many characters behind it as decide that it ends there. */
  String piece() {
    return piece;
  }

  /** Bytes in use, about. */
  long bytes() {
    BlockRun run = blocks;
    return bytesWithoutBlocks + (run == null ? 0 : (long) Long.BYTES * run.blocks());
  }

  private static long weigh(String piece, int[] tokenIds) {
    boolean wide = piece.chars().anyMatch(c -> c > 0xff);
    long text = wide ? 2L * piece.length() : piece.length();
    return NODE_BYTES + text + (long) Integer.BYTES * tokenIds.length;
  }
}
