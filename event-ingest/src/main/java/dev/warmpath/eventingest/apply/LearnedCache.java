package dev.warmpath.eventingest.apply;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an engine's events have said of how it keeps its blocks: what {@link EventApplier} knows
 * beside the index.
 *
 * @param mainGroup the group that gave the space its block size; 0 while there is none
 * @param space null until a block could be named
 * @param anyComputed whether names that were computed may be among what is suspended
 * @param chunkBlocks how many blocks its offload tiers give back together; {@link #NO_CHUNKS} if
 *     they have described none, 0 if that differs
 */
public record LearnedCache(
    Groups groups,
    int mainGroup,
    @Nullable ChainSpace space,
    boolean anyComputed,
    int chunkBlocks) {

  /** Offload tiers have described no chunk. */
  public static final int NO_CHUNKS = -1;

  public LearnedCache {
    if (chunkBlocks < NO_CHUNKS) {
      throw new IllegalArgumentException("chunkBlocks=" + chunkBlocks);
    }
  }

  /**
   * The KV-cache groups that it has told of.
   *
   * @param described those that a store has described
   * @param highest the highest index heard of, −1 for none
   * @param windowTokens the first attention window heard of, 0 for none
   */
  public record Groups(List<CacheGroup> described, int highest, int windowTokens) {

    public Groups {
      described = List.copyOf(described);
      int last = described.stream().mapToInt(CacheGroup::index).max().orElse(-1);
      if (last > highest
          || last >= GroupTable.MAX_GROUPS
          || highest > GroupTable.MAX_GROUPS
          || windowTokens < 0) {
        throw new IllegalArgumentException(
            "described=%s highest=%d windowTokens=%d".formatted(described, highest, windowTokens));
      }
    }
  }
}
