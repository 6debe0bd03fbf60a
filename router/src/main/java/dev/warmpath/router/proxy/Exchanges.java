package dev.warmpath.router.proxy;

import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The exchanges of one event loop. One timer looks at the time limits of all of them, and there is
 * none while there are no exchanges.
 *
 * <p>Confined to its event loop.
 */
final class Exchanges {

  private static final long NONE = -1;

  private final Vertx vertx;
  private final LongSupplier nanoClock;
  private final long tickMs;
  private final Runnable onTick;
  private final Set<Exchange> open = new LinkedHashSet<>();
  private long timer = NONE;

  /**
   * @param tickMs how late a time limit may be noticed
   * @param onTick done at each tick too
   */
  Exchanges(Vertx vertx, LongSupplier nanoClock, long tickMs, Runnable onTick) {
    this.vertx = vertx;
    this.nanoClock = nanoClock;
    this.tickMs = tickMs;
    this.onTick = onTick;
  }

  void add(Exchange exchange) {
    open.add(exchange);
    if (timer == NONE) {
      timer = vertx.setPeriodic(tickMs, id -> tick());
    }
  }

  void remove(Exchange exchange) {
    open.remove(exchange);
  }

  private void tick() {
    if (open.isEmpty()) {
      vertx.cancelTimer(timer);
      timer = NONE;
      return;
    }
    onTick.run();
    long now = nanoClock.getAsLong();
    ArrayList<Exchange> late = new ArrayList<>(0);
    for (Exchange exchange : open) {
      if (exchange.isLate(now)) {
        late.add(exchange);
      }
    }
    late.forEach(exchange -> exchange.timeOut(now));
  }

  /** Cuts all of them off. */
  void cut() {
    new ArrayList<>(open).forEach(Exchange::cut);
  }
}
