package dev.warmpath.eventingest.follow;

import dev.warmpath.eventingest.follow.IngestOptions.BackoffLimits;

/**
 * How long to wait before an engine is asked again that did not answer a replay to its end: longer
 * from time to time, and not as long as other engines.
 *
 * <p>Thread-safe.
 */
final class ReplayBackoff {

  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private final BackoffLimits limits;
  private final int slot;
  private volatile int failures;

  /**
   * @param slot tells engines apart, so that a fleet that went away together is not asked together
   */
  ReplayBackoff(BackoffLimits limits, int slot) {
    this.limits = limits;
    this.slot = slot;
  }

  /** A replay is over; {@code whole} if the engine said so. */
  void answered(boolean whole) {
    failures = whole ? 0 : Math.min(failures() + 1, 16);
  }

  /** How long to wait before the next question: between half of the time due and all of it. */
  long delayMillis() {
    int failed = failures();
    if (failed == 0) {
      return 0;
    }
    long due =
        Math.min(limits.firstMillis() << (2 * Math.min(failed - 1, 8)), limits.longestMillis());
    long spread = ((slot + 31L * failed) * SPREAD) >>> 1;
    return due / 2 + spread % (due / 2 + 1);
  }

  private int failures() {
    return failures;
  }
}
