package dev.warmpath.kvindex.workload;

import java.util.Random;

/**
 * How one workload behaves, so that each seed stresses something else.
 *
 * <p>Immutable.
 *
 * @param engines how many are there at most
 * @param dialects how many different kinds of engine hashes there are
 */
public record Habits(
    int engines,
    int maxBlocks,
    int steps,
    int maxOrphans,
    int dialects,
    int groups,
    int slowTierPercent,
    int aliasPercent,
    int liePercent,
    int churnPercent,
    boolean anyLayout) {

  public static Habits any(Random random) {
    boolean fleet = random.nextInt(25) == 0;
    int maxBlocks =
        switch (fleet ? 0 : random.nextInt(10)) {
          case 0, 1, 2, 3, 4 -> 24;
          case 5, 6, 7 -> 140;
          default -> 260;
        };
    return new Habits(
        fleet ? 60 + random.nextInt(80) : 1 + random.nextInt(5),
        maxBlocks,
        fleet ? 300 : 20 + random.nextInt(100),
        new int[] {0, 3, 8, 60, 300}[random.nextInt(5)],
        1 + random.nextInt(3),
        1 + random.nextInt(2) * random.nextInt(3),
        random.nextInt(2) * 20,
        random.nextInt(3) == 0 ? 15 : 0,
        random.nextInt(3) == 0 ? 5 : 0,
        1 + random.nextInt(6),
        random.nextInt(2) == 0);
  }
}
