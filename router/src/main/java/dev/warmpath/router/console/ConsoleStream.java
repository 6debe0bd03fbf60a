package dev.warmpath.router.console;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Server-sent events for whoever looks at the console: computed once for all listeners, and not at
 * all without one. A listener that has not read the last events when the next ones come is dropped.
 *
 * <p>Confined to its event loop; {@link #listeners()} may be asked by any thread.
 */
final class ConsoleStream {

  /** Where the events come from; never called on the event loop, and next ones one at a time. */
  public interface Source {

    /** The first listener of some has come. */
    default void begin() {}

    /** The events that a listener begins with. */
    String first();

    /** The events of turn {@code turn}, for all listeners. */
    String next(long turn);
  }

  /** So many may listen. */
  public static final int MOST_LISTENERS = 16;

  private static final Logger LOG = LoggerFactory.getLogger(ConsoleStream.class);
  private static final long NO_TIMER = -1;

  private record Listener(HttpServerResponse response, Runnable cut, BooleanSupplier allowed) {}

  private final Vertx vertx;
  private final Source source;
  private final long turnMillis;
  private final List<Listener> listeners = new ArrayList<>();
  private volatile int count;
  private long timer = NO_TIMER;
  private long turn;
  private boolean computing;

  /**
   * @param turnMillis time between two turns
   */
  public ConsoleStream(Vertx vertx, Source source, long turnMillis) {
    this.vertx = vertx;
    this.source = source;
    this.turnMillis = turnMillis;
  }

  /** An event as it is sent. */
  public static String event(String name, String json) {
    return "event: " + name + "\ndata: " + json + "\n\n";
  }

  /** How many listen. */
  public int listeners() {
    return count;
  }

  /**
   * Answers {@code request} with the stream.
   *
   * @param allowed asked at each turn; once false, the stream ends
   * @return false if too many listen; nothing was done then
   */
  public boolean join(HttpServerRequest request, BooleanSupplier allowed) {
    if (listeners.size() >= MOST_LISTENERS) {
      return false;
    }
    HttpServerResponse response = request.response();
    Listener listener = new Listener(response, () -> request.connection().close(), allowed);
    listeners.add(listener);
    count = listeners.size();
    response.putHeader("content-type", "text/event-stream");
    response.putHeader("cache-control", "no-store");
    response.setChunked(true);
    response.closeHandler(v -> leave(listener));
    response.exceptionHandler(e -> leave(listener));
    boolean isFirst = timer == NO_TIMER;
    if (isFirst) {
      timer = vertx.setPeriodic(turnMillis, id -> turn());
    }
    Callable<String> first =
        () -> {
          if (isFirst) {
            source.begin();
          }
          return source.first();
        };
    compute(first).onSuccess(events -> send(listener, events));
    return true;
  }

  private void leave(Listener listener) {
    listeners.remove(listener);
    count = listeners.size();
    if (listeners.isEmpty() && timer != NO_TIMER) {
      vertx.cancelTimer(timer);
      timer = NO_TIMER;
    }
  }

  private void turn() {
    if (computing) {
      return; // the machine is too slow for more
    }
    computing = true;
    long now = turn++;
    compute(() -> source.next(now))
        .onSuccess(events -> List.copyOf(listeners).forEach(each -> send(each, events)))
        .onComplete(done -> computing = false);
  }

  private Future<Buffer> compute(Callable<String> work) {
    return vertx
        .executeBlocking(() -> Buffer.buffer(work.call()), false)
        .onFailure(e -> LOG.error("the console's events could not be computed", e));
  }

  private void send(Listener listener, Buffer events) {
    if (!listeners.contains(listener)) {
      return;
    }
    if (!listener.allowed().getAsBoolean() || listener.response().writeQueueFull()) {
      leave(listener);
      listener.cut().run();
      return;
    }
    listener.response().write(events);
  }
}
