package dev.warmpath.router.tokenize;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Whether one replica may be asked one thing: not for a while after it said that it does not offer
 * it, and not for a shorter while after several failures in a row.
 *
 * <p>Thread-safe.
 */
final class Gate {

  private static final long NOT_OFFERED_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final int MOST_FAILURES = 5;

  private final LongSupplier nanoClock;
  private boolean closed;
  private long openAtNanos;
  private int failures;

  Gate(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Whether it may be asked now. */
  synchronized boolean allows() {
    if (closed && nanoClock.getAsLong() - openAtNanos >= 0) {
      closed = false;
    }
    return !closed;
  }

  synchronized void notOffered() {
    closeFor(NOT_OFFERED_NANOS);
  }

  /** It answered, well or not. */
  synchronized void answered() {
    failures = 0;
  }

  /** One more failure; after a rest the next one closes it again. */
  synchronized void failed() {
    failures++;
    if (failures >= MOST_FAILURES) {
      failures = MOST_FAILURES - 1;
      closeFor(REST_NANOS);
    }
  }

  private void closeFor(long nanos) {
    closed = true;
    openAtNanos = nanoClock.getAsLong() + nanos;
  }
}
