package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.traffic.LifetimeFacts;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an engine's events have said of how it keeps its blocks: what {@link EventApplier} knows
 * beside the index.
 *
 * <p>Immutable.
 *
 * @param mainGroup the group that gave the space its block size; 0 while there is none
 * @param space null until a block could be named
 * @param recalled whether names that were computed may be among what is doubted
 */
public record LearnedCache(
    Groups groups,
    int mainGroup,
    @Nullable ChainSpace space,
    boolean recalled,
    LifetimeFacts facts) {

  /**
   * The KV-cache groups that it has told of.
   *
   * <p>Immutable.
   *
   * @param described those that a store has described
   * @param highest the highest index heard of, −1 for none
   * @param windowTokens the first attention window heard of, 0 for none, {@link #FORGOTTEN_WINDOW}
   *     if nobody remembers
   */
  public record Groups(List<CacheGroup> described, int highest, int windowTokens) {

    /** There may have been a window; any other is a second one. */
    public static final int FORGOTTEN_WINDOW = -1;

    public Groups {
      described = List.copyOf(described);
    }
  }

  /** The same, known by somebody who cannot have seen the requests that came later. */
  public LearnedCache unwatched() {
    return new LearnedCache(groups, mainGroup, space, recalled, facts.unwatched());
  }
}
