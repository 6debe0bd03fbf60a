package dev.warmpath.router.fleet.engine;

/**
 * What one engine hands out to others, one after another.
 *
 * <p>Thread-safe.
 */
final class HandOuts {

  private static final double NANOS_PER_MILLI = 1e6;

  private int underWay;
  private long headNanos;
  private long untilNanos;
  private long lastEndNanos = Long.MIN_VALUE;

  /** How long those take that are under way; when they are overdue, as long again for each. */
  synchronized double backlogMillis(long nowNanos) {
    if (underWay == 0) {
      return 0;
    }
    long nanos = untilNanos > nowNanos ? untilNanos - nowNanos : underWay * (nowNanos - headNanos);
    return nanos / NANOS_PER_MILLI;
  }

  /** How many are under way. */
  synchronized int waiting() {
    return underWay;
  }

  /** One more is asked for, that takes so long. */
  synchronized void begin(double millis, long nowNanos) {
    if (underWay++ == 0) {
      headNanos = nowNanos;
      untilNanos = nowNanos;
    }
    untilNanos = Math.max(nowNanos, untilNanos) + Math.round(millis * NANOS_PER_MILLI);
  }

  /** One was over then, whatever became of it; when the one before it was, or the least value. */
  synchronized long ended(long endNanos) {
    underWay--;
    headNanos = Math.max(headNanos, endNanos);
    long before = lastEndNanos;
    lastEndNanos = Math.max(before, endNanos);
    return before;
  }
}
