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
  private int[] credited = new int[16];
  private int creditedCount;
  private int slots;

  /**
   * Begins a new answer for slots {@code 0 … slots − 1}, all zero; costs what the last one held.
   */
  public void begin(int slots) {
    this.slots = slots;
    int needed = slots * LOCAL_TIERS;
    if (needed > tokens.length) {
      tokens = new int[Math.max(needed, 2 * tokens.length)];
    } else {
      for (int i = 0; i < creditedCount; i++) {
        int at = credited[i] * LOCAL_TIERS;
        Arrays.fill(tokens, at, at + LOCAL_TIERS, 0);
      }
    }
    creditedCount = 0;
  }

  /** Number of slots answered for; higher slots hold nothing. */
  public int slots() {
    return slots;
  }

  /** Sets the depth of {@code slot} at {@code tier}, in tokens. */
  public void set(int slot, StorageTier tier, int reusableTokens) {
    int at = slot * LOCAL_TIERS;
    if (reusableTokens != 0 && tokens[at] == 0 && tokens[at + 1] == 0 && tokens[at + 2] == 0) {
      credit(slot);
    }
    tokens[at + tier.ordinal()] = reusableTokens;
  }

  /** Sets the depth of {@code slot}, in tokens, for an engine of which only the GPU is known. */
  public void set(int slot, int reusableTokens) {
    if (reusableTokens != 0) {
      credit(slot);
      int at = slot * LOCAL_TIERS;
      tokens[at] = reusableTokens;
      tokens[at + 1] = reusableTokens;
      tokens[at + 2] = reusableTokens;
    }
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

  private void credit(int slot) {
    if (creditedCount == credited.length) {
      credited = Arrays.copyOf(credited, 2 * creditedCount);
    }
    credited[creditedCount++] = slot;
  }
}
