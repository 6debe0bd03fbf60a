package dev.warmpath.eventingest.apply;

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
 * @param groups those that a store has described
 * @param highestGroup the highest index heard of, −1 for none
 * @param mainGroup the group that gave the space its block size; 0 while there is none
 * @param space null until a block could be named
 * @param recalled whether names that were computed may be among what is doubted
 */
public record LearnedCache(
    List<CacheGroup> groups,
    int highestGroup,
    int mainGroup,
    @Nullable ChainSpace space,
    boolean recalled) {

  public LearnedCache {
    groups = List.copyOf(groups);
  }
}
