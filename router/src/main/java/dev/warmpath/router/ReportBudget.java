package dev.warmpath.router;

import java.util.function.LongSupplier;

/**
 * How many full reports one engine may still be asked for.
 *
 * <p>Thread-safe.
 */
final class ReportBudget {

  private static final double MINUTE_NANOS = 60e9;

  private final int perMinute;
  private final LongSupplier nanoClock;
  private double left;
  private long countedNanos;

  ReportBudget(int perMinute, LongSupplier nanoClock) {
    this.perMinute = perMinute;
    this.nanoClock = nanoClock;
    left = perMinute;
    countedNanos = nanoClock.getAsLong();
  }

  /** Whether one more may be asked for, and is. */
  synchronized boolean take() {
    long now = nanoClock.getAsLong();
    left = Math.min(perMinute, left + (now - countedNanos) / MINUTE_NANOS * perMinute);
    countedNanos = now;
    if (left < 1) {
      return false;
    }
    left--;
    return true;
  }
}
