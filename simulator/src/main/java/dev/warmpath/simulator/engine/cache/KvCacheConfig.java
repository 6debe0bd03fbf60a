package dev.warmpath.simulator.engine.cache;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import java.util.List;

/**
 * Size and groups of one engine's KV cache.
 *
 * <p>A state of linear attention, of which one block at the end of a prefix is enough, is a sliding
 * window of one block and one token.
 *
 * <p>Immutable.
 *
 * @param blockSizeTokens tokens a block, in every group
 * @param blocks physical blocks that the groups share, the null block included
 * @param groups full-attention group first, then sliding-window groups; indices count from 0
 * @param sparse whether sliding-window groups commit only the blocks that a repetition of the
 *     prompt, or a prompt that shares what another group holds of it, can hit (vLLM's default since
 *     0.32), not every block
 */
public record KvCacheConfig(
    int blockSizeTokens, int blocks, List<CacheGroup> groups, boolean sparse) {

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
  }

  /** One whose groups commit every block. */
  public KvCacheConfig(int blockSizeTokens, int blocks, List<CacheGroup> groups) {
    this(blockSizeTokens, blocks, groups, false);
  }

  /** A model whose layers all attend to everything. */
  public static KvCacheConfig fullAttention(int blockSizeTokens, int blocks) {
    CacheGroup group = new CacheGroup(0, Kind.FULL_ATTENTION, blockSizeTokens, 0);
    return new KvCacheConfig(blockSizeTokens, blocks, List.of(group));
  }

  /** The longest sequence that is sure to find room when it runs alone. */
  public int maxSequenceTokens() {
    return (blocks - 1) / groups.size() * blockSizeTokens;
  }
}
