package dev.warmpath.eventingest.apply;

import dev.warmpath.kvindex.StorageTier;
import java.util.function.LongSupplier;

/**
 * Whether an engine may hold all that it says. One that announces more than it has room for is
 * misread, or lies; so what it holds is not known, and is to be shown anew.
 *
 * <p>If that happens again and again, one of the two numbers is wrong for good. What was configured
 * is right, and the engine is not believed any more. What its metrics say is not worth all hits: it
 * is ignored then, until the engine's next lifetime.
 *
 * <p>Confined to the writer.
 */
final class Capacity {

  /** What is allowed beyond, so that an engine that is just full need not be counted each time. */
  private static final int SLACK_PART = 16;

  /** After so many breaches in a lifetime one of the numbers is not believed any more. */
  private static final int MOST_BREACHES = 3;

  private static final long UNKNOWN = 0;

  private final long configuredBlocks;
  private long gpuBlocks = UNKNOWN;
  private boolean onlyGpu = true;
  private long sure;
  private int breaches;

  /**
   * @param configuredBlocks how many blocks the engine can hold in all, 0 if nobody knows
   */
  Capacity(long configuredBlocks) {
    this.configuredBlocks = configuredBlocks;
  }

  /** The engine says that its GPU has room for so many, 0 if it does not say. */
  void gpuBlocks(long blocks) {
    if (blocks != gpuBlocks) {
      gpuBlocks = blocks;
      sure = 0;
    }
  }

  /** It is not known in which tiers the blocks are that it held before. */
  void restored() {
    onlyGpu = false;
  }

  /** Another lifetime may have another cache. */
  void reset() {
    gpuBlocks = UNKNOWN;
    onlyGpu = true;
    sure = 0;
    breaches = 0;
  }

  /**
   * Whether the engine can hold so many more.
   *
   * @param groups how many groups it has; their blocks share the GPU's
   * @param held how many it holds, asked only now and then
   */
  boolean takes(int blocks, StorageTier tier, int groups, LongSupplier held) {
    if (tier != StorageTier.GPU && onlyGpu) {
      onlyGpu = false;
      sure = 0;
    }
    if (blocks > sure && !isDistrusted()) {
      long most = most(groups);
      sure = most == UNKNOWN ? Long.MAX_VALUE : most - held.getAsLong();
    }
    boolean fits = blocks <= sure && !isDistrusted();
    sure -= fits ? blocks : 0;
    return fits;
  }

  /** More is held than was counted, or what can be held is another number. */
  void recount() {
    sure = 0;
  }

  /** The engine announced more than it can hold. */
  void breached() {
    breaches++;
    sure = 0;
  }

  /** Whether it did so again and again, and is known to have no room for it. */
  boolean isDistrusted() {
    return configuredBlocks > 0 && breaches >= MOST_BREACHES;
  }

  /** Whether what its metrics say is not believed any more. */
  boolean isIgnored() {
    return configuredBlocks == 0 && breaches >= MOST_BREACHES;
  }

  /** How many blocks the engine can hold, with some slack; 0 if nobody knows. */
  long most(int groups) {
    if (configuredBlocks > 0) {
      return configuredBlocks + configuredBlocks / SLACK_PART + 1;
    }
    // What is told is the GPU's. A block of a hybrid model's may go by a hash of each group.
    long known = onlyGpu && !isIgnored() ? gpuBlocks * Math.max(1, groups) : UNKNOWN;
    return known == UNKNOWN ? UNKNOWN : known + known / SLACK_PART + 1;
  }
}
