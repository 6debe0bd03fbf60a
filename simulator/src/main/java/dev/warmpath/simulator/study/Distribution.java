package dev.warmpath.simulator.study;

import java.util.Arrays;

/**
 * Mean and percentiles of many values; NaN of none. p90 is the least value that nine of ten do not
 * exceed.
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
        quantile(sorted, 0.5),
        quantile(sorted, 0.9),
        quantile(sorted, 0.99));
  }

  /** The least of the values, in order, that {@code share} of them do not exceed. */
  public static double quantile(double[] sorted, double share) {
    return sorted[(int) Math.max(0, Math.ceil(share * sorted.length) - 1)];
  }
}
