package dev.warmpath.simulator.statistics;

import java.util.Arrays;

/**
 * Mean and percentiles of many values; NaN of none. p90 is the least value that nine of ten do not
 * exceed.
 *
 * <p>Immutable.
 */
public record Distribution(double mean, double p50, double p90, double p99) {

  public static Distribution of(double[] values) {
    if (values.length == 0) {
      return new Distribution(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return new Distribution(
        Arrays.stream(sorted).average().orElseThrow(),
        rank(sorted, 0.5),
        rank(sorted, 0.9),
        rank(sorted, 0.99));
  }

  private static double rank(double[] sorted, double share) {
    return sorted[(int) Math.max(0, Math.ceil(share * sorted.length) - 1)];
  }
}
