package dev.warmpath.router.proxy;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/**
 * Keeps retries to a part of all requests, so that a fleet that fails is not asked twice as much.
 *
 * <p>Thread-safe.
 */
public final class RetryBudget {

  private static final long RETRY = 100;
  private static final long MOST_SAVED = 200 * RETRY;

  private final IntSupplier percent;
  private final AtomicLong saved = new AtomicLong(MOST_SAVED);

  /**
   * @param percent retries in 100 requests, beyond two hundred that may come at once
   */
  public RetryBudget(IntSupplier percent) {
    this.percent = percent;
  }

  /** A request came. */
  public void earn() {
    saved.accumulateAndGet(percent.getAsInt(), (now, more) -> Math.min(MOST_SAVED, now + more));
  }

  /** How many requests may be tried again at once. */
  public long remaining() {
    return Math.max(0, saved.get()) / RETRY;
  }

  /** Whether one may be tried again. */
  public boolean isLeft() {
    return saved.get() >= RETRY;
  }

  /** One is tried again. */
  public void spend() {
    saved.addAndGet(-RETRY);
  }
}
