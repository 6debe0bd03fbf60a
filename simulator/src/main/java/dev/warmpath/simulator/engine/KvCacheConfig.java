package dev.warmpath.simulator.engine;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Size and groups of one engine's KV cache.
 *
 * <p>A state of linear attention, of which one block at the end of a prefix is enough, is a sliding
 * window of one block and one token.
 *
 * @param blockSizeTokens tokens a block, in every group
 * @param blocks physical blocks that the groups share, the null block included
 * @param groups full-attention group first, then sliding-window groups; indices count from 0
 * @param sparse whether sliding-window groups commit only the blocks that a repetition of the
 *     prompt, or a prompt that shares what another group holds of it, can hit (vLLM's default since
 *     0.32), not every block
 * @param hostBlocks copies of committed blocks that host memory holds; 0 for no host tier, as it
 *     must be with several groups
 * @param store that other engines read too; null for none, as it must be with several groups
 */
public record KvCacheConfig(
    int blockSizeTokens,
    int blocks,
    List<CacheGroup> groups,
    boolean sparse,
    int hostBlocks,
    @Nullable BlockStore store) {

  public KvCacheConfig {
    groups = List.copyOf(groups);
    if (blocks < 2) {
      throw new IllegalArgumentException("blocks=" + blocks);
    }
    if (groups.isEmpty() || groups.get(0).kind() != Kind.FULL_ATTENTION) {
      throw new IllegalArgumentException("groups=" + groups);
    }
    for (int i = 0; i < groups.size(); i++) {
      CacheGroup group = groups.get(i);
      boolean known = i == 0 || group.kind() == Kind.SLIDING_WINDOW;
      if (!known || group.index() != i || group.blockSizeTokens() != blockSizeTokens) {
        throw new IllegalArgumentException("group=" + group + " at=" + i);
      }
    }
    if (hostBlocks < 0
        || hostBlocks == Integer.MAX_VALUE
        || (hostBlocks > 0 && groups.size() > 1)) {
      throw new IllegalArgumentException("hostBlocks=" + hostBlocks + " groups=" + groups.size());
    }
    if (store != null && groups.size() > 1) {
      throw new IllegalArgumentException("store with groups=" + groups.size());
    }
  }

  /** One that reads no store. */
  public KvCacheConfig(
      int blockSizeTokens, int blocks, List<CacheGroup> groups, boolean sparse, int hostBlocks) {
    this(blockSizeTokens, blocks, groups, sparse, hostBlocks, null);
  }

  /** One without host tier. */
  public KvCacheConfig(int blockSizeTokens, int blocks, List<CacheGroup> groups, boolean sparse) {
    this(blockSizeTokens, blocks, groups, sparse, 0);
  }

  /** One without host tier whose groups commit every block. */
  public KvCacheConfig(int blockSizeTokens, int blocks, List<CacheGroup> groups) {
    this(blockSizeTokens, blocks, groups, false);
  }

  /** A model whose layers all attend to everything. */
  public static KvCacheConfig fullAttention(int blockSizeTokens, int blocks) {
    CacheGroup group = new CacheGroup(0, Kind.FULL_ATTENTION, blockSizeTokens, 0);
    return new KvCacheConfig(blockSizeTokens, blocks, List.of(group));
  }

  /** The same in front of a host tier of this size. */
  public KvCacheConfig withHost(int hostBlocks) {
    return new KvCacheConfig(blockSizeTokens, blocks, groups, sparse, hostBlocks, store);
  }

  /** The same that reads a store, and puts there what it commits. */
  public KvCacheConfig with(@Nullable BlockStore shared) {
    return new KvCacheConfig(blockSizeTokens, blocks, groups, sparse, hostBlocks, shared);
  }

  /** The longest sequence that is sure to find room when it runs alone. */
  public int maxSequenceTokens() {
    return (blocks - 1) / groups.size() * blockSizeTokens;
  }
}
