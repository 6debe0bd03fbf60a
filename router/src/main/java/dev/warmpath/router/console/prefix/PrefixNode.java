package dev.warmpath.router.console.prefix;

import dev.warmpath.kvindex.block.BlockChain;
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
final class PrefixNode {

  private final long id;
  private @Nullable PrefixNode parent;
  private long[] hashes;
  private final Map<Long, PrefixNode> children = new HashMap<>();
  private long requests;
  private long usedNanos;
  private HotPrefix.@Nullable Ends ends;

  private PrefixNode(long id, @Nullable PrefixNode parent, long[] hashes) {
    this.id = id;
    this.parent = parent;
    this.hashes = hashes;
  }

  /** The node before all blocks. */
  static PrefixNode root() {
    return new PrefixNode(0, null, new long[0]);
  }

  /** Adds the blocks {@code [from, to)} of a prompt behind this node. */
  PrefixNode add(long newId, BlockChain chain, int from, int to) {
    long[] run = LongStream.range(from, to).map(i -> chain.localHash((int) i)).toArray();
    PrefixNode child = new PrefixNode(newId, this, run);
    children.put(run[0], child);
    return child;
  }

  /** The node behind this one that begins with the block {@code index} of a prompt. */
  @Nullable PrefixNode next(BlockChain chain, int index) {
    return children.get(chain.localHash(index));
  }

  /** How many of its blocks the prompt has from {@code from} on, up to {@code to}. */
  int shared(BlockChain chain, int from, int to) {
    return chain.same(from, hashes, 0, Math.min(hashes.length, to - from));
  }

  /** Makes a node of its first {@code blocks} blocks, with this one behind it. */
  PrefixNode split(long newId, int blocks) {
    PrefixNode before = new PrefixNode(newId, parent, Arrays.copyOf(hashes, blocks));
    before.requests = requests;
    before.usedNanos = usedNanos;
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
   * @param tokenIds of its prompt, or null
   * @param endTokens tokens up to this node's end
   */
  void used(long nowNanos, int @Nullable [] tokenIds, int endTokens) {
    requests++;
    usedNanos = nowNanos;
    if (tokenIds != null && ends == null && endTokens <= tokenIds.length) {
      ends = new HotPrefix.Ends(tokenIds, endTokens);
    }
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

  Collection<PrefixNode> children() {
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
