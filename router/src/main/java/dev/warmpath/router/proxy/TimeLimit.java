package dev.warmpath.router.proxy;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A time until which something must have happened. It is not a timer: whoever owns it looks at it
 * now and then.
 *
 * <p>Confined to its event loop.
 */
public final class TimeLimit {

  /** What comes slower than this does not flow; Apache's least rate of bodies. */
  private static final long LEAST_BYTES_PER_SECOND = 500;

  private long limitNanos;
  private long sinceNanos;
  private @Nullable Runnable due;

  /** From now on {@code limitMs} may pass, or else {@code due} is to be run; replaces the last. */
  public void start(long limitMs, long nowNanos, Runnable due) {
    this.limitNanos = TimeUnit.MILLISECONDS.toNanos(limitMs);
    this.sinceNanos = nowNanos;
    this.due = due;
  }

  /** Something happened: the time begins anew. */
  public void restart(long nowNanos) {
    sinceNanos = nowNanos;
  }

  /**
   * So many bytes came: the time begins anew, but bytes that come slower than {@value
   * #LEAST_BYTES_PER_SECOND} a second earn no more time than they take at that rate.
   */
  public void flowed(int bytes, long nowNanos) {
    long earned = TimeUnit.SECONDS.toNanos(bytes) / LEAST_BYTES_PER_SECOND;
    sinceNanos += Math.min(nowNanos - sinceNanos, earned);
  }

  public void stop() {
    due = null;
  }

  public boolean isOver(long nowNanos) {
    return due != null && nowNanos - sinceNanos >= limitNanos;
  }

  /** Does what is due, once. */
  public void expire() {
    Runnable action = due;
    due = null;
    if (action != null) {
      action.run();
    }
  }
}
