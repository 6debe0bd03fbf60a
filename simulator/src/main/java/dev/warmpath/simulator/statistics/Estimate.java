package dev.warmpath.simulator.statistics;

import java.util.Arrays;

/**
 * The mean of a figure over several runs, and how far it can be trusted.
 *
 * <p>Immutable.
 *
 * @param mean NaN of no run
 * @param halfWidth of the mean's 95 % confidence interval; NaN of fewer than two runs
 */
public record Estimate(double mean, double halfWidth) {

  /* Student's t at 97.5 %, by degrees of freedom. */
  private static final double[] T = {
    Double.NaN, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228
  };
  private static final double T_OF_MANY = 1.96;

  public static Estimate of(double[] runs) {
    int n = runs.length;
    if (n == 0) {
      return new Estimate(Double.NaN, Double.NaN);
    }
    double mean = Arrays.stream(runs).average().orElseThrow();
    double squares = Arrays.stream(runs).map(value -> (value - mean) * (value - mean)).sum();
    double t = n - 1 < T.length ? T[n - 1] : T_OF_MANY;
    return new Estimate(mean, t * Math.sqrt(squares / (n - 1) / n));
  }
}
