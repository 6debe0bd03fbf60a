package dev.warmpath.simulator.bench.generate.fleet;

import java.util.Arrays;

/**
 * Blocks that engines hold from the start and that nobody asks for or evicts: they make the index
 * large and its caches cold.
 *
 * <p>Each family is a chain of {@value #DEPTH} blocks of one engine.
 *
 * <p>Immutable.
 */
public record Ballast(int families) {

  public static final int DEPTH = 128;

  /** Above all numbers that requests use. */
  private static final int FIRST_BLOCK = 1 << 30;

  /** (engine, block) pairs. */
  long memberships() {
    return (long) families * DEPTH;
  }

  void store(EventWriter writer, FleetPlan plan) {
    int[] chain = new int[DEPTH];
    for (int family = 0; family < families; family++) {
      int first = FIRST_BLOCK + family * DEPTH;
      Arrays.setAll(chain, depth -> first + depth);
      for (int begin = 0; begin < DEPTH; begin += plan.storeBlocks()) {
        int end = Math.min(DEPTH, begin + plan.storeBlocks());
        writer.stored(family % plan.engines(), 0, chain, begin, end);
      }
    }
  }
}
