package dev.warmpath.simulator.study;

import java.util.Arrays;

/**
 * A mean over several seeds.
 *
 * @param confidence half the width of the mean's 95 % confidence interval; NaN for one seed
 */
public record Estimate(double mean, double confidence) {

  /* Student's t at 97.5 %, by degrees of freedom; from 30 on 2 is near enough. */
  private static final double[] T = {
    Double.NaN,
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
    2.228,
    2.201,
    2.179,
    2.160,
    2.145,
    2.131,
    2.120,
    2.110,
    2.101,
    2.093,
    2.086,
    2.080,
    2.074,
    2.069,
    2.064,
    2.060,
    2.056,
    2.052,
    2.048,
    2.045
  };
  private static final double T_OF_MANY = 2;

  /** Of one value a seed. */
  public static Estimate of(double... values) {
    int n = values.length;
    double mean = Arrays.stream(values).average().orElse(Double.NaN);
    double squares = Arrays.stream(values).map(value -> (value - mean) * (value - mean)).sum();
    double t = n <= T.length ? T[Math.max(0, n - 1)] : T_OF_MANY;
    return new Estimate(mean, t * Math.sqrt(squares / (n - 1) / n));
  }

  /** Half the width of the interval, 0 if it is not known. */
  public double margin() {
    return Double.isNaN(confidence) ? 0 : confidence;
  }

  /** Whether the two confidence intervals overlap; of one seed only equal means do. */
  public boolean overlaps(Estimate other) {
    return Math.abs(mean - other.mean) <= margin() + other.margin();
  }
}
