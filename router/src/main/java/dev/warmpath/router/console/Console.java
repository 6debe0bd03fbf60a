package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.router.fleet.dispatch.Dispatcher;
import dev.warmpath.router.observe.RouterMetrics;
import java.time.Clock;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What the console shows beyond the state of the fleet: the last hour and the last seconds in
 * numbers.
 *
 * <p>Thread-safe. Answers take milliseconds: ask off the event loop.
 */
public final class Console {

  /** Length of a step of the history, in seconds. */
  public static final int STEP_SECONDS = History.STEP_SECONDS;

  /** The longest history, in seconds. */
  public static final int HISTORY_SECONDS = History.STEPS * History.STEP_SECONDS;

  private final Totals totals;
  private final History history;
  private final Clock clock;

  public Console(
      RouterMetrics metrics,
      Dispatcher dispatcher,
      Supplier<List<EngineStatus>> streams,
      Clock clock,
      LongSupplier nanoClock) {
    this.clock = clock;
    this.totals = new Totals(new Totals.Sources(metrics, dispatcher, streams, nanoClock));
    this.history = new History(totals.read());
  }

  /** A step of the history is over; to be called every {@link #STEP_SECONDS}. */
  public void step() {
    history.add(totals.read(), clock.millis());
  }

  /** The numbers of the last ten seconds. */
  public ObjectNode now() {
    return history.now(totals.read()).json();
  }

  /** The numbers of the last {@code seconds}, step by step. */
  public ObjectNode history(int seconds) {
    return history.json(seconds);
  }

  /** How an engine's cache and its predictions did in the last five minutes. */
  public EngineRates rates(String engine) {
    return history.rates(engine);
  }
}
