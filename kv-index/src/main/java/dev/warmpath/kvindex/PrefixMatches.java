package dev.warmpath.kvindex;

/**
 * The answer to one query: for each engine slot, how many tokens of the prompt the engine would
 * reuse.
 *
 * <p>Depths are cumulative over tiers: the depth at {@link StorageTier#CPU} is what the engine
 * reuses from GPU and CPU memory together. Slower tiers count only behind what the GPU gives: an
 * engine that reads on from them finds no block that the GPU alone holds there. What CPU memory
 * holds by itself stands beside them: other engines can have that, and nothing of the GPU. Reused
 * from query to query.
 *
 * <p>Single writer.
 */
public final class PrefixMatches {

  /*
   * A depth is stored with the number of its answer in the upper half, so that beginning an answer
   * clears nothing. Most engines have depths on the GPU only; the slower tiers have columns of their
   * own, which are asked first, and one for what CPU memory holds by itself.
   */

  private static final int HOST_ALONE = StorageTier.values().length - 1;
  private static final int COLUMNS = HOST_ALONE + 1;

  private long[] onGpu = new long[16];
  private long[] slower = new long[16 * COLUMNS];
  private int answer = 1;
  private boolean tiered;
  private int slots;
  private int limit = Integer.MAX_VALUE;
  private int dropped;
  private int unit = 1;

  /** Begins a new answer for slots {@code 0 … slots − 1}, all zero. */
  public void begin(int slots) {
    begin(slots, Integer.MAX_VALUE, 0, 1);
  }

  /**
   * Begins a new answer that will be given by {@link #deepen} alone, for engines that all turn held
   * blocks into a hit in the same way.
   *
   * @param limitBlocks no engine reuses more
   * @param droppedBlocks that each computes again all the same
   * @param blockSizeTokens tokens a block
   */
  public void begin(int slots, int limitBlocks, int droppedBlocks, int blockSizeTokens) {
    this.slots = slots;
    limit = limitBlocks;
    dropped = droppedBlocks;
    unit = blockSizeTokens;
    tiered = false;
    answer++;
    if (slots > onGpu.length || answer == 0) {
      int length = Math.max(slots, 2 * onGpu.length);
      onGpu = new long[length];
      slower = new long[length * COLUMNS];
      answer = 1;
    }
  }

  /** Number of slots answered for; higher slots hold nothing. */
  public int slots() {
    return slots;
  }

  /** Sets the depth of {@code slot} at {@code tier}, in tokens; a faster tier's first. */
  public void set(int slot, StorageTier tier, int reusableTokens) {
    if (tier == StorageTier.GPU) {
      set(slot, reusableTokens);
    } else {
      slower[slot * COLUMNS + tier.ordinal() - 1] = stamped(reusableTokens);
      tiered = true;
    }
  }

  /** Sets what the CPU memory of {@code slot} holds by itself, in tokens. */
  public void setHost(int slot, int tokens) {
    slower[slot * COLUMNS + HOST_ALONE] = stamped(tokens);
    tiered = true;
  }

  /** Sets the depth of {@code slot}, in tokens, for all tiers that are not set on their own. */
  public void set(int slot, int reusableTokens) {
    onGpu[slot] = stamped(reusableTokens);
  }

  /**
   * The engine holds {@code more} blocks behind the first {@code before}; false, and nothing is
   * noted, if it does not hold those.
   */
  public boolean deepen(int slot, int before, int more) {
    long depth = onGpu[slot];
    boolean here = (int) (depth >>> Integer.SIZE) == answer;
    if ((here ? (int) depth : 0) != before) {
      return false;
    }
    onGpu[slot] = stamped(before + more);
    return true;
  }

  /** Tokens that the engine reuses from {@code tier} and all faster ones. */
  public int tokens(int slot, StorageTier tier) {
    if (slot >= slots) {
      return 0;
    }
    if (tiered && tier != StorageTier.GPU) {
      long depth = slower[slot * COLUMNS + tier.ordinal() - 1];
      if ((int) (depth >>> Integer.SIZE) == answer) {
        return (int) depth;
      }
    }
    long depth = onGpu[slot];
    return (int) (depth >>> Integer.SIZE) == answer
        ? Math.max(0, Math.min((int) depth, limit) - dropped) * unit
        : 0;
  }

  /** Tokens that the engine reuses from all its tiers. */
  public int tokens(int slot) {
    return tokens(slot, StorageTier.DISK);
  }

  /** Tokens that the engine which reuses most of the prompt does from all its tiers. */
  public int mostTokens() {
    int most = 0;
    for (int slot = 0; slot < slots; slot++) {
      most = Math.max(most, tokens(slot));
    }
    return most;
  }

  /** Tokens, from the prompt's first on, that the engine's CPU memory holds by itself. */
  public int hostTokens(int slot) {
    long depth = tiered && slot < slots ? slower[slot * COLUMNS + HOST_ALONE] : 0;
    return (int) (depth >>> Integer.SIZE) == answer ? (int) depth : 0;
  }

  private long stamped(int tokens) {
    return ((long) answer << Integer.SIZE) | tokens;
  }
}
