package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.model.ReferenceEngine.Shelf;
import java.util.List;
import java.util.function.BiPredicate;

/**
 * How many tokens of one prompt an engine reuses, by trying every length.
 *
 * <p>Immutable.
 *
 * @param held for each block of the prompt the shelves that it is on
 */
record ReferenceRule(CacheLayout layout, BlockChain prompt, List<List<Shelf>> held) {

  /** What the GPU allows. */
  int fastTokens() {
    return longest((block, tier) -> tier == StorageTier.GPU);
  }

  /** That, and what the slower tiers allow behind it. */
  int reusableTokens(int fast, StorageTier slowest) {
    int fastBlocks = fast / prompt.space().blockSizeTokens();
    int all =
        longest((block, tier) ->
            tier == StorageTier.GPU ? block < fastBlocks : tier.compareTo(slowest) <= 0);
    return Math.max(fast, all);
  }

  /** What CPU memory would allow if there were nothing else. */
  int hostTokens() {
    return longest((block, tier) -> tier == StorageTier.CPU);
  }

  /** The longest length that every group allows. */
  private int longest(BiPredicate<Integer, StorageTier> counts) {
    List<int[]> heldFrom = layout.groups().stream().map(group -> heldFrom(group, counts)).toList();
    int longest = 0;
    int unit = unit();
    int limit = prompt.promptTokens() - layout.withheldTokens();
    int dropped = layout.droppedBlocks() * unit;
    for (int length = unit; length + dropped <= limit; length += unit) {
      if (agree(heldFrom, length) && agree(heldFrom, length + dropped)) {
        longest = length;
      }
    }
    return longest;
  }

  /** For each number of the group's blocks, the token from which on it holds all up to there. */
  private int[] heldFrom(CacheGroup group, BiPredicate<Integer, StorageTier> counts) {
    int size = group.blockSizeTokens();
    int[] from = new int[prompt.promptTokens() / size + 1];
    for (int end = size; end <= prompt.promptTokens(); end += size) {
      from[end / size] = holds(group, end, counts) ? from[end / size - 1] : end;
    }
    return from;
  }

  /** Whether the group holds the block that ends at this token, named as the prompt's block is. */
  private boolean holds(CacheGroup group, int end, BiPredicate<Integer, StorageTier> counts) {
    int chainBlockTokens = prompt.space().blockSizeTokens();
    int block = end / chainBlockTokens - 1;
    if (group.blockSizeTokens() % chainBlockTokens != 0 || block >= prompt.blocks()) {
      return false;
    }
    for (Shelf shelf : held.get(block)) {
      if (shelf.group() == group.index() && counts.test(block, shelf.tier())) {
        return true;
      }
    }
    return false;
  }

  private boolean agree(List<int[]> heldFrom, int length) {
    for (int i = 0; i < heldFrom.size(); i++) {
      CacheGroup group = layout.groups().get(i);
      int from = heldFrom.get(i)[length / group.blockSizeTokens()];
      if (group.kind() == Kind.UNKNOWN || from > firstTokenNeeded(group, length)) {
        return false;
      }
    }
    return !heldFrom.isEmpty();
  }

  private static int firstTokenNeeded(CacheGroup group, int length) {
    return switch (group.kind()) {
      case FULL_ATTENTION, UNKNOWN -> 0;
      case SLIDING_WINDOW -> Math.max(0, length - (group.slidingWindowTokens() - 1));
      case MAMBA -> length - 1;
    };
  }

  private int unit() {
    int unit = 1;
    while (!isCommon(unit)) {
      unit++;
    }
    return unit;
  }

  private boolean isCommon(int unit) {
    for (CacheGroup group : layout.groups()) {
      if (unit % group.blockSizeTokens() != 0) {
        return false;
      }
    }
    return true;
  }
}
