package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.PromptTokens;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that always came together in what was reused, behind those of its parent.
 *
 * <p>Confined to its tree's lock.
 */
final class HotPrefixNode {

  /** A reuse that ended here counts e^(−t/RECENT) after the time t. */
  private static final double RECENT_NANOS = 600e9;

  /** No prompt went on behind the node, or none with a whole block. */
  static final long NOTHING = 0;

  private final long id;
  private @Nullable HotPrefixNode parent;
  private long[] hashes;
  private final Map<Long, HotPrefixNode> children = new HashMap<>();
  private long requests;
  private long usedNanos;
  private HotPrefix.@Nullable Ends ends;
  private long firstNext = NOTHING;
  private boolean shared;
  private double recentEnds;
  private long endedNanos;
  private int @Nullable [] tokenIds;

  private HotPrefixNode(long id, @Nullable HotPrefixNode parent, long[] hashes) {
    this.id = id;
    this.parent = parent;
    this.hashes = hashes;
  }

  /** The node before all blocks. */
  static HotPrefixNode root() {
    return new HotPrefixNode(0, null, new long[0]);
  }

  /** Adds the blocks {@code [from, to)} of a prompt behind this node. */
  HotPrefixNode add(long newId, BlockChain chain, int from, int to) {
    long[] run = LongStream.range(from, to).map(i -> chain.localHash((int) i)).toArray();
    HotPrefixNode child = new HotPrefixNode(newId, this, run);
    children.put(run[0], child);
    return child;
  }

  /** The node behind this one that begins with the block {@code index} of a prompt. */
  @Nullable HotPrefixNode next(BlockChain chain, int index) {
    return children.get(chain.localHash(index));
  }

  /** How many of its blocks the prompt has from {@code from} on, up to {@code to}. */
  int shared(BlockChain chain, int from, int to) {
    return chain.same(from, hashes, 0, Math.min(hashes.length, to - from));
  }

  /**
   * Makes a node of its first {@code blocks} blocks, with this one behind it.
   *
   * @param tokens of those blocks, as many as {@link #tokenIds} has of them
   */
  HotPrefixNode split(long newId, int blocks, int tokens) {
    HotPrefixNode before = new HotPrefixNode(newId, parent, Arrays.copyOf(hashes, blocks));
    before.requests = requests;
    before.usedNanos = usedNanos;
    before.firstNext = hashes[blocks];
    int[] ids = tokenIds;
    if (ids != null) {
      before.tokenIds = Arrays.copyOf(ids, tokens);
      tokenIds = Arrays.copyOfRange(ids, tokens, ids.length);
    }
    hashes = Arrays.copyOfRange(hashes, blocks, hashes.length);
    before.children.put(hashes[0], this);
    if (parent != null) {
      parent.children.put(before.hashes[0], before);
    }
    parent = before;
    return before;
  }

  /**
   * A request reused all of it.
   *
   * @param next the local hash of its prompt's block behind this node, or {@link #NOTHING}
   * @param isEnd whether it reused no more than that
   */
  void countReuse(long nowNanos, long next, boolean isEnd) {
    requests++;
    usedNanos = nowNanos;
    if (next == NOTHING) {
      shared |= recentEnds > 0; // nobody sends the same prompt again but to ask for something else
    } else if (firstNext == NOTHING) {
      firstNext = next;
    } else {
      shared |= next != firstNext;
    }
    if (isEnd) {
      recentEnds = recentEnds(nowNanos) + 1;
      endedNanos = nowNanos;
    }
  }

  private double recentEnds(long nowNanos) {
    return recentEnds * Math.exp((endedNanos - nowNanos) / RECENT_NANOS);
  }

  /** Keeps the first and last of the {@code length} tokens up to its end, if none are kept yet. */
  void keepEnds(PromptTokens prompt, int length) {
    if (ends == null && length <= prompt.count()) {
      ends = new HotPrefix.Ends(prompt, length);
    }
  }

  /** Whether prompts went on behind it in more than one way, unlike the turns of one session. */
  boolean isShared() {
    return shared;
  }

  /**
   * How many requests of the last ten minutes or so would have found all that they reused, or this
   * at least, in an engine that holds only what is shared.
   *
   * @param mostBlocks nodes that end farther behind this one count for none above them
   * @param into gets that of this node and of each below
   */
  double demand(long nowNanos, int mostBlocks, Map<HotPrefixNode, Double> into) {
    double demand = shared ? recentEnds(nowNanos) : 0;
    for (HotPrefixNode child : children.values()) {
      int left = mostBlocks - child.blocks();
      double below = child.demand(nowNanos, left, into);
      demand += left < 0 ? 0 : below;
    }
    into.put(this, demand);
    return demand;
  }

  /** The tokens of its blocks, from where those of its parent end; null if they are not kept. */
  int @Nullable [] tokenIds() {
    return tokenIds;
  }

  void keepTokens(int @Nullable [] ids) {
    tokenIds = ids;
  }

  @Nullable HotPrefixNode parent() {
    return parent;
  }

  /** Takes it out of the tree; it has no children. */
  void remove() {
    if (parent != null) {
      parent.children.remove(hashes[0]);
    }
  }

  boolean isLeaf() {
    return children.isEmpty();
  }

  Collection<HotPrefixNode> children() {
    return children.values();
  }

  long id() {
    return id;
  }

  /** Its own blocks. */
  int blocks() {
    return hashes.length;
  }

  /** The blocks up to its end. */
  long[] path() {
    long[] before = parent == null ? new long[0] : parent.path();
    long[] path = Arrays.copyOf(before, before.length + hashes.length);
    System.arraycopy(hashes, 0, path, before.length, hashes.length);
    return path;
  }

  /** Requests that reused all of it. */
  long requests() {
    return requests;
  }

  /** When it was reused last. */
  long usedNanos() {
    return usedNanos;
  }

  /** Its first and last tokens; null if they are not kept. */
  HotPrefix.@Nullable Ends ends() {
    return ends;
  }
}
