package dev.warmpath.lab.index;

/**
 * Chooses the engine with the least (blocks to compute + load); the load decays with time.
 *
 * <p>Single writer.
 */
final class Balance {

  private static final double LOAD_SECONDS = 10;

  private final double[] loads;
  private double now;

  Balance(int engines) {
    loads = new double[engines];
  }

  /**
   * The engine for a prompt of {@code blocks} blocks of which each holds {@code depths}; the lowest
   * number wins a tie.
   */
  int choose(double seconds, int blocks, int[] depths) {
    decay(seconds);
    int best = 0;
    for (int engine = 1; engine < depths.length; engine++) {
      if (loads[engine] - depths[engine] < loads[best] - depths[best]) {
        best = engine;
      }
    }
    loads[best] += blocks - depths[best];
    return best;
  }

  private void decay(double seconds) {
    if (seconds > now) {
      double factor = Math.exp(-(seconds - now) / LOAD_SECONDS);
      for (int engine = 0; engine < loads.length; engine++) {
        loads[engine] *= factor;
      }
      now = seconds;
    }
  }
}
