package dev.warmpath.eventingest.apply;

import dev.warmpath.kvindex.StorageTier;
import java.util.function.LongSupplier;

/**
 * Whether an engine may hold all that it says. One that announces more than it has room for is
 * misread, or lies.
 *
 * <p>Confined to the writer.
 */
final class Capacity {

  /** What is allowed beyond, so that an engine that is just full need not be counted each time. */
  private static final int SLACK_PART = 16;

  /** After so many breaches in a lifetime nothing of it is believed any more. */
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

  /** Whether it did so again and again. */
  boolean isDistrusted() {
    return breaches >= MOST_BREACHES;
  }

  /** How many blocks the engine can hold, with some slack; 0 if nobody knows. */
  long most(int groups) {
    if (configuredBlocks > 0) {
      return configuredBlocks + configuredBlocks / SLACK_PART + 1;
    }
    // What is told is the GPU's. A block of a hybrid model's may go by a hash of each group.
    long known = onlyGpu ? gpuBlocks * Math.max(1, groups) : UNKNOWN;
    return known == UNKNOWN ? UNKNOWN : known + known / SLACK_PART + 1;
  }
}
