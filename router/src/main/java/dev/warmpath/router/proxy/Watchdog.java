package dev.warmpath.router.proxy;

import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Fires when nothing happened for a while. Signs of life are cheap: they set a field, and the timer
 * finds out when it rings.
 *
 * <p>Confined to its event loop.
 */
final class Watchdog {

  private final Vertx vertx;
  private final LongSupplier nanoClock;
  private Runnable expired = () -> {};
  private long limitNanos;
  private long lifeNanos;
  private long timer = -1;

  Watchdog(Vertx vertx, LongSupplier nanoClock) {
    this.vertx = vertx;
    this.nanoClock = nanoClock;
  }

  /**
   * Starts a new phase in which {@code limitMs} may pass between two signs of life.
   *
   * @param expired what to do when more has passed; throws nothing
   */
  void phase(long limitMs, Runnable expired) {
    stop();
    this.expired = expired;
    limitNanos = TimeUnit.MILLISECONDS.toNanos(limitMs);
    alive();
    timer = vertx.setTimer(limitMs, id -> ring());
  }

  void alive() {
    lifeNanos = nanoClock.getAsLong();
  }

  void stop() {
    if (timer >= 0) {
      vertx.cancelTimer(timer);
      timer = -1;
    }
  }

  private void ring() {
    long left = limitNanos - (nanoClock.getAsLong() - lifeNanos);
    if (left > 0) {
      timer = vertx.setTimer(TimeUnit.NANOSECONDS.toMillis(left) + 1, id -> ring());
    } else {
      timer = -1;
      expired.run();
    }
  }
}
