package dev.warmpath.tokenizer.encode;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.BlockRun;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.block.PromptTokens;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A text's tokens, and what is remembered of how it begins: block hashes that were made for an
 * earlier text are not made again.
 *
 * <p>Thread-safe.
 */
public final class EncodedText implements PromptTokens {

  /*
   * The tokens of the known beginning stay where they are: a long prompt has a megabyte of them, and
   * its block hashes, its length and its first tokens are all that most requests need.
   */
  private final @Nullable PrefixNode known;
  private final int[] rest;
  private final @Nullable PrefixNode last;
  private volatile int @Nullable [] all;

  /**
   * A text whose tokens are those up to {@code known}, and the {@code rest}.
   *
   * @param last the last node of all that is remembered of it now
   */
  EncodedText(@Nullable PrefixNode known, int[] rest, @Nullable PrefixNode last) {
    this.known = known;
    this.rest = rest;
    this.last = last;
  }

  /** A text with these tokens, not to be changed, of which nothing is remembered. */
  public EncodedText(int[] tokenIds) {
    this(null, tokenIds, null);
  }

  @Override
  public int count() {
    return knownTokens() + rest.length;
  }

  private int knownTokens() {
    return known == null ? 0 : known.endTokens();
  }

  /** The tokens, not to be changed; put together when they are asked for first. */
  public int[] tokenIds() {
    int[] ids = known == null ? rest : all;
    if (ids == null) {
      ids = range(0, count());
      all = ids;
    }
    return ids;
  }

  @Override
  public int[] range(int from, int to) {
    int[] ids = new int[to - from];
    if (known != null) {
      known.copyTokens(from, to, ids);
    }
    int first = Math.max(from, knownTokens());
    if (first < to) {
      System.arraycopy(rest, first - knownTokens(), ids, first - from, to - first);
    }
    return ids;
  }

  /** The text with these tokens added. */
  public EncodedText with(AddedSpecials added) {
    return added.count() == 0 ? this : new EncodedText(added.addTo(tokenIds()));
  }

  /** The block chain of the text as a whole prompt. */
  public BlockChain chain(ChainSpace space, PromptKeys keys) {
    if (keys.loraName() != null || last == null) {
      return BlockChain.of(space, tokenIds(), keys);
    }
    List<PrefixNode> nodes = nodes(last);
    List<BlockRun> runs = new ArrayList<>(nodes.size());
    for (PrefixNode node : nodes) {
      BlockRun run = node.blocks();
      if (run == null || !run.space().equals(space)) {
        break;
      }
      runs.add(run);
    }
    BlockChain chain = BlockChain.of(space, this, keys, runs);
    if (keys.cacheSalt() == null) {
      nodes.subList(runs.size(), nodes.size()).forEach(node -> remember(node, chain));
    }
    return chain;
  }

  private static List<PrefixNode> nodes(PrefixNode last) {
    List<PrefixNode> nodes = new ArrayList<>();
    for (PrefixNode node = last; node != null; node = node.parent()) {
      nodes.add(node);
    }
    Collections.reverse(nodes);
    return nodes;
  }

  /** The blocks that end in the node with all that their names cover. */
  private static void remember(PrefixNode node, BlockChain chain) {
    PrefixNode parent = node.parent();
    int from = parent == null ? 0 : chain.space().blocks(parent.endTokens());
    node.blocks(chain.run(from, chain.space().blocks(node.endTokens())));
  }
}
