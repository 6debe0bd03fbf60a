package dev.warmpath.router.proxy.limit;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A time until which something must have happened. It is not a timer: whoever owns it looks at it
 * now and then.
 *
 * <p>Confined to its event loop.
 */
public final class TimeLimit {

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
  public void again(long nowNanos) {
    sinceNanos = nowNanos;
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
