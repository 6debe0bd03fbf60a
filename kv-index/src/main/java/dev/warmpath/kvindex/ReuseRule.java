package dev.warmpath.kvindex;

import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.block.BlockChain;
import java.util.List;

/**
 * How many tokens of one prompt an engine reuses, given which of the prompt's blocks each group
 * holds.
 *
 * <p>A group agrees on a length if it holds the last blocks before it that its kind needs: all for
 * full attention, {@code ceil((window − 1) / B)} for a sliding window, one for Mamba; fewer if the
 * length has fewer. The engine reuses the longest length that is a multiple of all groups' block
 * sizes, leaves the withheld tokens out, and on which all groups agree. With dropped blocks they
 * must agree on both the length and the one that many units further.
 *
 * <p>A group's block is looked up under the name of the chain's block that ends with it; a group
 * whose block size is no multiple of the chain's cannot be judged and never agrees.
 */
final class ReuseRule {

  private final List<CacheGroup> groups;
  private final int chainBlockTokens;
  private final long unitTokens;
  private final long droppedTokens;
  private final int withheldTokens;
  private final boolean judgeable;

  /**
   * @param chainBlockTokens tokens a block of the prompts' chains
   */
  public ReuseRule(CacheLayout layout, int chainBlockTokens) {
    this.chainBlockTokens = chainBlockTokens;
    groups = layout.groups();
    unitTokens = unitTokens(groups);
    droppedTokens = layout.droppedBlocks() * unitTokens;
    withheldTokens = layout.withheldTokens();
    judgeable = !groups.isEmpty() && groups.stream().allMatch(this::isJudgeable);
  }

  /**
   * Tokens that are reused.
   *
   * @param prompt whose blocks are {@code chainBlockTokens} long
   * @param held which of the prompt's blocks are held
   * @param rowOfGroup for each group of the layout, its row in {@code held}
   */
  public int tokens(BlockChain prompt, HeldRows held, int[] rowOfGroup) {
    long limitTokens =
        Math.min(
            (long) prompt.promptTokens() - withheldTokens,
            (long) prompt.blocks() * chainBlockTokens);
    if (!judgeable || limitTokens <= 0) {
      return 0;
    }
    long longest = floorToUnit(Math.min(limitTokens, fullAttentionTokens(held, rowOfGroup)));
    for (long length = longest - droppedTokens; length > 0; length -= unitTokens) {
      if (othersAgree(held, rowOfGroup, length)
          && (droppedTokens == 0 || othersAgree(held, rowOfGroup, length + droppedTokens))) {
        return (int) length;
      }
    }
    return 0;
  }

  /** How many blocks of the prompt's chain so many tokens are. */
  public int chainBlocks(int tokens) {
    return tokens / chainBlockTokens;
  }

  private boolean isJudgeable(CacheGroup group) {
    return group.kind() != Kind.UNKNOWN && group.blockSizeTokens() % chainBlockTokens == 0;
  }

  private long floorToUnit(long tokens) {
    return tokens - Math.floorMod(tokens, unitTokens);
  }

  private long fullAttentionTokens(HeldRows held, int[] rowOfGroup) {
    long tokens = Long.MAX_VALUE;
    for (int i = 0; i < rowOfGroup.length; i++) {
      if (groups.get(i).kind() == Kind.FULL_ATTENTION) {
        tokens = Math.min(tokens, contiguousTokens(groups.get(i), held, rowOfGroup[i]));
      }
    }
    return tokens;
  }

  private long contiguousTokens(CacheGroup group, HeldRows held, int row) {
    if (group.blockSizeTokens() == chainBlockTokens) {
      return (long) held.leading(row) * chainBlockTokens;
    }
    int blocks = 0;
    while (holds(group, held, row, blocks)) {
      blocks++;
    }
    return (long) blocks * group.blockSizeTokens();
  }

  private boolean othersAgree(HeldRows held, int[] rowOfGroup, long length) {
    for (int i = 0; i < rowOfGroup.length; i++) {
      CacheGroup group = groups.get(i);
      if (group.kind() != Kind.FULL_ATTENTION && !agrees(group, held, rowOfGroup[i], length)) {
        return false;
      }
    }
    return true;
  }

  private boolean agrees(CacheGroup group, HeldRows held, int row, long length) {
    int end = (int) (length / group.blockSizeTokens());
    int needed = group.kind() == Kind.MAMBA ? 1 : windowBlocks(group);
    for (int block = Math.max(0, end - needed); block < end; block++) {
      if (!holds(group, held, row, block)) {
        return false;
      }
    }
    return true;
  }

  private boolean holds(CacheGroup group, HeldRows held, int row, int block) {
    int chainBlocks = group.blockSizeTokens() / chainBlockTokens;
    long last = (block + 1L) * chainBlocks - 1;
    return last <= Integer.MAX_VALUE && held.holds(row, (int) last);
  }

  private static int windowBlocks(CacheGroup group) {
    return -Math.floorDiv(1 - group.slidingWindowTokens(), group.blockSizeTokens());
  }

  /** The least common multiple, or more than any prompt has when it does not fit. */
  private static long unitTokens(List<CacheGroup> groups) {
    long unit = 1;
    for (CacheGroup group : groups) {
      unit *= group.blockSizeTokens() / gcd(unit, group.blockSizeTokens());
      if (unit > Integer.MAX_VALUE) {
        return Integer.MAX_VALUE + 1L;
      }
    }
    return unit;
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }
}
