package dev.warmpath.router.observe;

import org.jspecify.annotations.Nullable;

/**
 * A histogram of times as it stands.
 *
 * <p>Immutable.
 */
public final class Buckets {

  private final @Nullable String label;
  private final double[] boundsMillis;
  private final long[] counts;

  /**
   * @param label the value of its metric's label, null if that has none
   * @param boundsMillis the upper bound of each bucket but the last, which has none
   * @param counts times in each bucket
   */
  Buckets(@Nullable String label, double[] boundsMillis, long[] counts) {
    this.label = label;
    this.boundsMillis = boundsMillis;
    this.counts = counts;
  }

  public @Nullable String label() {
    return label;
  }

  /** How many buckets there are. */
  public int buckets() {
    return counts.length;
  }

  /** The upper bound of a bucket; the last one has that of the one before. */
  public double boundMillis(int bucket) {
    return boundsMillis[Math.min(bucket, boundsMillis.length - 1)];
  }

  /** How many times are in a bucket. */
  public long count(int bucket) {
    return counts[bucket];
  }
}
