package dev.warmpath.router.console;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Times in buckets, as timers count them. The last bucket has no bound and is shown with that of
 * the one before.
 *
 * <p>Immutable.
 */
final class Latencies {

  static final Latencies NONE = new Latencies(new double[0], new long[0]);

  private final double[] boundsMillis;
  private final long[] counts;

  private Latencies(double[] boundsMillis, long[] counts) {
    this.boundsMillis = boundsMillis;
    this.counts = counts;
  }

  /** All that a timer has counted. */
  static Latencies of(Timer timer) {
    CountAtBucket[] reached =
        Arrays.stream(timer.takeSnapshot().histogramCounts())
            .filter(bucket -> Double.isFinite(bucket.bucket()))
            .toArray(CountAtBucket[]::new);
    double[] bounds = new double[reached.length + 1];
    long[] counts = new long[reached.length + 1];
    long before = 0;
    for (int i = 0; i < reached.length; i++) {
      bounds[i] = reached[i].bucket(TimeUnit.MILLISECONDS);
      long now = Math.round(reached[i].count());
      counts[i] = now - before;
      before = now;
    }
    bounds[reached.length] = reached.length == 0 ? 0 : bounds[reached.length - 1];
    counts[reached.length] = Math.max(0, timer.count() - before);
    return new Latencies(bounds, counts);
  }

  /** These and others of the same buckets. */
  Latencies plus(Latencies more) {
    if (counts.length == 0) {
      return more;
    }
    long[] sums = counts.clone();
    for (int i = 0; i < more.counts.length; i++) {
      sums[i] += more.counts[i];
    }
    return new Latencies(boundsMillis, sums);
  }

  /** What came since {@code before}: all of these if they began again meanwhile. */
  Latencies since(Latencies before) {
    if (Arrays.stream(before.counts).sum() > Arrays.stream(counts).sum()) {
      return this;
    }
    long[] growth = counts.clone();
    for (int i = 0; i < before.counts.length; i++) {
      growth[i] = Math.max(0, growth[i] - before.counts[i]);
    }
    return new Latencies(boundsMillis, growth);
  }

  /**
   * The time that a part {@code q} of these did not exceed, in milliseconds: even within a bucket.
   * Beyond the last bound it is that bound; NaN if there are none.
   */
  double quantileMillis(double q) {
    double rank = q * Arrays.stream(counts).sum();
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0 && rank <= counts[i]) {
        double lower = i == 0 ? 0 : boundsMillis[i - 1];
        return lower + (boundsMillis[i] - lower) * rank / counts[i];
      }
      rank -= counts[i];
    }
    return Double.NaN;
  }
}
