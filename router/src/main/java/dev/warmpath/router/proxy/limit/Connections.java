package dev.warmpath.router.proxy.limit;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The connections that clients have open on one server socket: those beyond a number are closed at
 * once, and so are those on which no request's head comes in time.
 *
 * <p>Confined to its event loop.
 */
public final class Connections {

  private static final int LOOKS_A_TIMEOUT = 4;
  private static final long SHORTEST_LOOK_MS = 5;
  private static final long LONGEST_LOOK_MS = 1_000;

  /** Longer than the way to a client and back. */
  private static final long LAST_REQUESTS_MS = 1_000;

  private static final int NO_ERROR = 0;

  /**
   * What connections may do.
   *
   * @param headMs from a connection's beginning to its first request's head
   * @param keepAliveMs from a response's end to the next request's head
   */
  public record Timeouts(int headMs, int keepAliveMs) {}

  /**
   * How many connections there are on all event loops, and may be.
   *
   * <p>Thread-safe.
   */
  public static final class Count {
    private final IntSupplier limit;
    private final AtomicInteger open = new AtomicInteger();
    private final LongAdder refused = new LongAdder();
    private final LongAdder timedOut = new LongAdder();

    public Count(IntSupplier limit) {
      this.limit = limit;
    }

    /** Connections that are open. */
    public int open() {
      return open.get();
    }

    /** How many may be open. */
    public int limit() {
      return limit.getAsInt();
    }

    /** Connections closed because there were too many. */
    public long refused() {
      return refused.sum();
    }

    /** Connections closed because no request came. */
    public long timedOut() {
      return timedOut.sum();
    }
  }

  private static final class Connection {
    private int requests;
    private boolean served;
    private long idleNanos;
    private long patienceNanos;
    private boolean ending;
    private boolean leaving;
  }

  private final Vertx vertx;
  private final LongSupplier nanoClock;
  private final Supplier<Timeouts> timeouts;
  private final Count count;
  private final IdentityHashMap<HttpConnection, Connection> open = new IdentityHashMap<>();
  private long timer = -1;

  public Connections(
      Vertx vertx, LongSupplier nanoClock, Supplier<Timeouts> timeouts, Count count) {
    this.vertx = vertx;
    this.nanoClock = nanoClock;
    this.timeouts = timeouts;
    this.count = count;
  }

  /** Watches the server's connections from now on; before it listens. */
  public void watch(HttpServer server) {
    server.connectionHandler(this::opened);
    Timeouts now = timeouts.get();
    long shortest = Math.min(now.headMs(), now.keepAliveMs()) / LOOKS_A_TIMEOUT;
    long every = Math.max(SHORTEST_LOOK_MS, Math.min(shortest, LONGEST_LOOK_MS));
    timer = vertx.setPeriodic(every, id -> look());
  }

  /** Watches no more. */
  public void stop() {
    vertx.cancelTimer(timer);
  }

  private void opened(HttpConnection connection) {
    if (count.open.incrementAndGet() > count.limit()) {
      count.open.decrementAndGet();
      count.refused.increment();
      connection.close();
      return;
    }
    open.put(connection, idle(new Connection(), timeouts.get().headMs()));
    connection.closeHandler(v -> {
      if (open.remove(connection) != null) {
        count.open.decrementAndGet();
      }
    });
  }

  private Connection idle(Connection connection, int patienceMs) {
    connection.idleNanos = nanoClock.getAsLong();
    connection.patienceNanos = TimeUnit.MILLISECONDS.toNanos(patienceMs);
    return connection;
  }

  /** A request's head has come; false if its connection ends, and nothing is to be answered. */
  public boolean began(HttpServerRequest request) {
    Connection connection = open.get(request.connection());
    if (connection != null && connection.ending) {
      return false;
    }
    if (connection != null) {
      connection.requests++;
      request.response().endHandler(v -> ended(connection));
    }
    return true;
  }

  /** Whether an earlier request on the same connection was answered. */
  public boolean isReused(HttpServerRequest request) {
    Connection connection = open.get(request.connection());
    return connection != null && connection.served;
  }

  /**
   * Tells a client that speaks HTTP/2, once, to connect elsewhere for its next request.
   *
   * @param patienceMs for streams to end
   */
  public void leave(HttpServerRequest request, int patienceMs) {
    Connection connection = open.get(request.connection());
    if (connection != null && !connection.leaving) {
      connection.leaving = true;
      HttpConnection leaving = request.connection();
      leaving.goAway(NO_ERROR, Integer.MAX_VALUE); // requests on their way are answered, too
      vertx.setTimer(LAST_REQUESTS_MS, id -> shutDown(leaving, patienceMs));
    }
  }

  private void shutDown(HttpConnection connection, int patienceMs) {
    if (open.containsKey(connection)) {
      connection.shutdown(patienceMs, TimeUnit.MILLISECONDS);
    }
  }

  /** Ends the request's connection; further requests that have come on it are not read. */
  public void end(HttpServerRequest request) {
    Connection connection = open.get(request.connection());
    if (connection != null) {
      connection.ending = true;
    }
    request.connection().close();
  }

  private void ended(Connection connection) {
    connection.requests--;
    connection.served = true;
    idle(connection, timeouts.get().keepAliveMs());
  }

  private void look() {
    long now = nanoClock.getAsLong();
    List<HttpConnection> late = new ArrayList<>(0);
    open.forEach((connection, state) -> {
      if (state.requests == 0 && now - state.idleNanos >= state.patienceNanos) {
        late.add(connection);
      }
    });
    for (HttpConnection connection : late) {
      count.timedOut.increment();
      connection.close();
    }
  }
}
