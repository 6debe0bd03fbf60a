package dev.warmpath.eventingest;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * How long batches took from their arrival at the socket until the index showed them, in buckets.
 *
 * <p>Single writer, many readers; a reader may see a batch in the buckets and not yet in the sum.
 */
public final class VisibleTimes {

  /** The upper bounds of all buckets but the last one, which has none. */
  private static final long[] BOUNDS_NANOS = {
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    100_000_000,
    250_000_000,
    1_000_000_000,
    2_500_000_000L,
    10_000_000_000L
  };

  private final AtomicLongArray buckets = new AtomicLongArray(BOUNDS_NANOS.length + 1);
  private final LongAdder sumNanos = new LongAdder();

  /** One batch took so long. */
  public void add(long nanos) {
    int bucket = 0;
    while (bucket < BOUNDS_NANOS.length && nanos > BOUNDS_NANOS[bucket]) {
      bucket++;
    }
    buckets.lazySet(bucket, buckets.get(bucket) + 1);
    sumNanos.add(nanos);
  }

  /** How many buckets there are. */
  public int buckets() {
    return buckets.length();
  }

  /** The upper bound of a bucket, infinite for the last one. */
  public double boundSeconds(int bucket) {
    return bucket < BOUNDS_NANOS.length ? BOUNDS_NANOS[bucket] / 1e9 : Double.POSITIVE_INFINITY;
  }

  /** How many batches are in a bucket. */
  public long count(int bucket) {
    return buckets.get(bucket);
  }

  /** All times together. */
  public double sumSeconds() {
    return sumNanos.sum() / 1e9;
  }
}
