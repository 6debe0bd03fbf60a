package dev.warmpath.router.prompt;

import java.util.function.LongSupplier;

/**
 * How much of an event loop's time prompts may take: a quarter, and 2 ms in a row at most, so that
 * a flood of short ones leaves the loop time for its streams.
 *
 * <p>Confined to its event loop.
 */
public final class LoopBudget {

  static final double SHARE = 0.25;
  static final long MOST_NANOS = 2_000_000;

  private final LongSupplier nanoClock;
  private double leftNanos = MOST_NANOS;
  private long filledNanos;

  public LoopBudget(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    this.filledNanos = nanoClock.getAsLong();
  }

  /** Whether one more prompt may take {@code nanos}. */
  boolean has(long nanos) {
    long now = nanoClock.getAsLong();
    leftNanos = Math.min(MOST_NANOS, leftNanos + SHARE * (now - filledNanos));
    filledNanos = now;
    return leftNanos >= nanos;
  }

  /** A prompt has taken {@code nanos}, which may be more than there was. */
  void spend(long nanos) {
    leftNanos -= nanos;
  }
}
