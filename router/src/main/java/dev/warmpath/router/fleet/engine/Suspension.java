package dev.warmpath.router.fleet.engine;

import java.util.concurrent.TimeUnit;

/**
 * Keeps an engine that fails request after request from getting more of them: whoever fails at once
 * never has much in flight, and would look the least loaded of all.
 *
 * <p>After {@value #FAILURES} failures in a row it is suspended for a second, after each further
 * one twice as long, up to half a minute. Any success ends it.
 *
 * <p>Confined to the dispatcher's lock.
 */
public final class Suspension {

  private static final int FAILURES = 3;
  private static final int MOST_DOUBLINGS = 5;
  private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(30);

  private int failuresInRow;
  private long untilNanos;

  /** It failed a request at {@code nowNanos}. */
  public void failed(long nowNanos) {
    failuresInRow++;
    if (failuresInRow >= FAILURES) {
      int doublings = Math.min(failuresInRow - FAILURES, MOST_DOUBLINGS);
      untilNanos = nowNanos + Math.min(FIRST_NANOS << doublings, LONGEST_NANOS);
    }
  }

  /** It answered. */
  public void answered() {
    failuresInRow = 0;
  }

  /** Whether it should get nothing at {@code nowNanos} if there is anybody else. */
  public boolean active(long nowNanos) {
    return failuresInRow >= FAILURES && nowNanos - untilNanos < 0;
  }
}
