package dev.warmpath.router.security;

import java.util.concurrent.TimeUnit;

/**
 * A rate that may be exceeded for a moment: what one minute brings can be used at once. Something
 * that turns out larger than what is left makes debts, which pass with time.
 *
 * <p>Thread-safe.
 */
final class ClientRate {

  private static final double NANOS_PER_MINUTE = TimeUnit.MINUTES.toNanos(1);

  private int perMinute;
  private double level;
  private long filledNanos;

  /**
   * A full bucket.
   *
   * @param perMinute 0 for any number
   */
  ClientRate(int perMinute, long nowNanos) {
    this.perMinute = perMinute;
    this.level = perMinute;
    this.filledNanos = nowNanos;
  }

  /** Another rate from now on; what was used stays used. */
  synchronized void limit(int newPerMinute, long nowNanos) {
    fill(nowNanos);
    level = perMinute == 0 ? newPerMinute : Math.min(newPerMinute, level);
    perMinute = newPerMinute;
  }

  /**
   * Takes {@code amount} if at least {@code least} is there.
   *
   * @return nanoseconds until {@code least} is there; 0 if it was taken
   */
  synchronized long take(double amount, double least, long nowNanos) {
    if (perMinute == 0) {
      return 0;
    }
    fill(nowNanos);
    double missing = least - level;
    if (missing > 0) {
      return 1 + (long) (missing / perMinute * NANOS_PER_MINUTE);
    }
    level -= amount;
    return 0;
  }

  /** Takes {@code amount}, or gives it back if it is negative. */
  synchronized void settle(double amount, long nowNanos) {
    if (perMinute != 0) {
      fill(nowNanos);
      level = Math.min(perMinute, level - amount);
    }
  }

  private void fill(long nowNanos) {
    double earned = (nowNanos - filledNanos) / NANOS_PER_MINUTE * perMinute;
    level = Math.min(perMinute, level + earned);
    filledNanos = nowNanos;
  }
}
