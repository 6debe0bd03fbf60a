package dev.warmpath.eventingest;

import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;

/**
 * What an engine makes of blocks that it finds in slower memory only.
 *
 * @param leastTokens fewer tokens than this are not read back
 * @param chunkTokens size of the pieces that are read back, counted from the prompt's begin; 0 if
 *     it is not known
 */
public record SlowTierReuse(int leastTokens, int chunkTokens) {

  /** Any block is read back by itself. */
  public static final SlowTierReuse ALL = new SlowTierReuse(0, 1);

  /** How many tokens of a prompt the engine in {@code slot} reuses. */
  public int reused(PrefixMatches matches, int slot) {
    return reused(matches.tokens(slot, StorageTier.GPU), matches.tokens(slot));
  }

  /**
   * How many tokens the engine reuses.
   *
   * @param device tokens found in GPU memory
   * @param all tokens found in GPU and slower memory together
   */
  public int reused(int device, int all) {
    int whole = chunkTokens == 0 ? device : Math.max(device, all - all % chunkTokens);
    return whole - device < leastTokens ? device : whole;
  }
}
