package dev.warmpath.lab.tokens;

import dev.warmpath.simulator.study.Distribution;
import java.util.Arrays;

/**
 * CPU times of one thing measured many times.
 *
 * <p>Confined to one thread.
 */
final class Samples {

  private long[] nanos = new long[64];
  private int count;

  void add(long value) {
    if (count == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * count);
    }
    nanos[count++] = value;
  }

  int count() {
    return count;
  }

  /** The value below which {@code share} of the samples are, in microseconds to a hundredth. */
  double micros(double share) {
    if (count == 0) {
      return 0;
    }
    double[] sorted = Arrays.stream(nanos, 0, count).sorted().asDoubleStream().toArray();
    return Math.round(Distribution.quantile(sorted, share) / 10.0) / 100.0;
  }

  double medianMicros() {
    return micros(0.5);
  }

  /** The same in milliseconds, to a thousandth. */
  double millis(double share) {
    return Math.round(micros(share)) / 1_000.0;
  }

  /** The median in milliseconds. */
  double medianMillis() {
    return millis(0.5);
  }
}
