package dev.warmpath.simulator.study;

import java.util.OptionalDouble;
import java.util.function.DoubleUnaryOperator;

/**
 * Where a fleet's waiting times rise: the highest rate at which the mean time to first token is at
 * most {@value #RISE} times what it is if the fleet is idle.
 *
 * <p>Thread-safe.
 */
final class Knee {

  private static final double RISE = 4;
  private static final double IDLE = 1e-3;
  private static final double HIGHEST = 1e4;
  private static final double STEP = 4;
  private static final int HALVINGS = 6;

  private Knee() {}

  /**
   * The rate of the knee, up to 3 % too low; empty if no rate makes waiting times rise.
   *
   * @param meanMillis the mean time to first token at a rate; NaN if nothing was answered
   */
  static OptionalDouble rate(DoubleUnaryOperator meanMillis) {
    double most = RISE * meanMillis.applyAsDouble(IDLE);
    double under = IDLE;
    double over = STEP * IDLE;
    while (meanMillis.applyAsDouble(over) <= most) {
      if (over > HIGHEST) {
        return OptionalDouble.empty();
      }
      under = over;
      over *= STEP;
    }
    if (Double.isNaN(most)) {
      return OptionalDouble.empty();
    }
    for (int i = 0; i < HALVINGS; i++) {
      double middle = Math.sqrt(under * over);
      if (meanMillis.applyAsDouble(middle) <= most) {
        under = middle;
      } else {
        over = middle;
      }
    }
    return OptionalDouble.of(under);
  }
}
