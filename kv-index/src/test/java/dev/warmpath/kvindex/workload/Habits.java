package dev.warmpath.kvindex.workload;

import java.util.Random;

/**
 * How one workload behaves, so that each seed stresses something else.
 *
 * <p>Immutable.
 *
 * @param groups how many groups blocks are stored in
 * @param dialects how many different kinds of engine hashes there are
 * @param anyLayout whether some engines are judged otherwise than by full attention on the GPU
 */
public record Habits(Size size, Odds odds, int groups, int dialects, boolean anyLayout) {

  /**
   * What the prompts are like.
   *
   * @param isComb whether each leaves the one before it near its end, so that paths have many
   *     branches
   */
  public record Trees(int prompts, int maxBlocks, boolean isComb) {}

  /**
   * How much there is.
   *
   * @param engines how many are there at most at a time
   * @param maxOrphans what the index is made for
   */
  public record Size(int engines, Trees trees, int steps, int maxOrphans) {

    /** So many engines that one event is often like those of others. */
    boolean isFleet() {
      return engines > 10;
    }
  }

  /**
   * How often something happens, in percent.
   *
   * @param slowTier of stores, that they are not on the GPU
   * @param alias of stores, that blocks have other engine hashes than before
   * @param lie of stores, that they contradict what was said before
   * @param churn of steps, that something happens to an engine rather than to its blocks
   * @param drop of steps that happen to blocks, that they are dropped
   */
  public record Odds(int slowTier, int alias, int lie, int churn, int drop) {}

  static Habits any(Random random) {
    Size size = random.nextInt(25) == 0 ? fleet(random) : small(random);
    Odds odds =
        new Odds(
            random.nextInt(2) * 20,
            random.nextInt(3) == 0 ? 15 : 0,
            random.nextInt(3) == 0 ? 5 : 0,
            1 + random.nextInt(10),
            45);
    int groups = 1 + random.nextInt(2) * random.nextInt(3);
    int dialects = size.isFleet() && random.nextBoolean() ? 100 : 1 + random.nextInt(3);
    return new Habits(size, odds, groups, dialects, random.nextBoolean());
  }

  private static Size fleet(Random random) {
    return new Size(60 + random.nextInt(80), trees(random, 24), 300, maxOrphans(random));
  }

  private static Size small(Random random) {
    int maxBlocks =
        switch (random.nextInt(10)) {
          case 0, 1, 2, 3, 4 -> 24;
          case 5, 6, 7 -> 140;
          default -> 260;
        };
    int engines = 1 + random.nextInt(5);
    int steps = 20 + random.nextInt(100);
    return new Size(engines, trees(random, maxBlocks), steps, maxOrphans(random));
  }

  private static Trees trees(Random random, int maxBlocks) {
    int prompts = random.nextInt(20) == 0 ? 30 : 2 + random.nextInt(6);
    return new Trees(prompts, maxBlocks, random.nextInt(5) == 0);
  }

  private static int maxOrphans(Random random) {
    return new int[] {0, 3, 8, 60, 300}[random.nextInt(5)];
  }
}
