package dev.warmpath.kvindex;

import java.util.Arrays;

/**
 * The answer to one query: for each engine slot, how many tokens of the prompt the engine would
 * reuse.
 *
 * <p>Depths are cumulative over tiers: the depth at {@link StorageTier#CPU} is what the engine
 * reuses from GPU and CPU memory together. Slower tiers count only behind what the GPU gives: an
 * engine that reads on from them finds no block that the GPU alone holds there. {@link
 * StorageTier#REMOTE} is credited to nobody. Reused from query to query.
 *
 * <p>Single writer.
 */
public final class PrefixMatches {

  /** Tiers that are credited to the replica that announced them. */
  public static final int LOCAL_TIERS = StorageTier.REMOTE.ordinal();

  private int[] tokens = new int[LOCAL_TIERS * 16];
  private int slots;

  /** Begins a new answer for slots {@code 0 … slots − 1}, all zero. */
  public void begin(int slots) {
    this.slots = slots;
    int needed = slots * LOCAL_TIERS;
    if (needed > tokens.length) {
      tokens = new int[Math.max(needed, 2 * tokens.length)];
    } else {
      Arrays.fill(tokens, 0, needed, 0);
    }
  }

  /** Number of slots answered for; higher slots hold nothing. */
  public int slots() {
    return slots;
  }

  /** Sets the depth of {@code slot} at {@code tier}, in tokens. */
  public void set(int slot, StorageTier tier, int reusableTokens) {
    tokens[slot * LOCAL_TIERS + tier.ordinal()] = reusableTokens;
  }

  /** Tokens that the engine reuses from {@code tier} and all faster ones. */
  public int tokens(int slot, StorageTier tier) {
    return slot < slots && tier != StorageTier.REMOTE
        ? tokens[slot * LOCAL_TIERS + tier.ordinal()]
        : 0;
  }

  /** Tokens that the engine reuses from all its local tiers. */
  public int tokens(int slot) {
    return tokens(slot, StorageTier.DISK);
  }
}
