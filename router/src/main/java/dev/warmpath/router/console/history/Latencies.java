package dev.warmpath.router.console.history;

import dev.warmpath.router.observe.Buckets;
import java.util.Arrays;
import java.util.List;

/**
 * Times counted since the start, in buckets, of all replicas together.
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

  /** These and what histograms have counted more; each array has the growth of one's buckets. */
  Latencies plus(List<Buckets> histograms, List<long[]> growth) {
    if (histograms.isEmpty()) {
      return this;
    }
    Buckets first = histograms.get(0);
    double[] bounds = new double[first.buckets()];
    Arrays.setAll(bounds, first::boundMillis);
    long[] sums = Arrays.copyOf(counts, first.buckets());
    for (long[] more : growth) {
      Arrays.setAll(sums, i -> sums[i] + more[i]);
    }
    return new Latencies(bounds, sums);
  }

  /**
   * The time that a part {@code q} of those since {@code before} did not exceed, in milliseconds:
   * even within a bucket. Beyond the last bound it is that bound; NaN if there are none.
   */
  double quantileMillis(Latencies before, double q) {
    long[] since = counts.clone();
    for (int i = 0; i < before.counts.length; i++) {
      since[i] -= before.counts[i];
    }
    double rank = q * Arrays.stream(since).sum();
    for (int i = 0; i < since.length; i++) {
      if (since[i] > 0 && rank <= since[i]) {
        double lower = i == 0 ? 0 : boundsMillis[i - 1];
        return lower + (boundsMillis[i] - lower) * rank / since[i];
      }
      rank -= since[i];
    }
    return Double.NaN;
  }
}
