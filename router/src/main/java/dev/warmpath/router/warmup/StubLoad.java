package dev.warmpath.router.warmup;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A few clients, each of which sends its next request when the last was answered.
 *
 * <p>Thread-safe.
 */
final class StubLoad {

  private static final int CLIENTS = 8;

  private final HttpClient http;
  private final int port;
  private final List<StubRequests.Made> requests;
  private final int limit;
  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicLong answered = new AtomicLong();
  private volatile boolean over;

  /**
   * @param limit requests that are sent at most
   */
  StubLoad(Vertx vertx, int port, List<StubRequests.Made> requests, int limit) {
    this.http = vertx.createHttpClient(new PoolOptions().setHttp1MaxSize(CLIENTS));
    this.port = port;
    this.requests = requests;
    this.limit = limit;
  }

  void start() {
    for (int i = 0; i < CLIENTS; i++) {
      next();
    }
  }

  /** Sends no more. */
  void stop() {
    over = true;
  }

  boolean isOver() {
    return over || sent.get() >= limit;
  }

  int sent() {
    return sent.get();
  }

  long answered() {
    return answered.get();
  }

  private void next() {
    if (isOver()) {
      return;
    }
    StubRequests.Made made = requests.get(Math.floorMod(sent.getAndIncrement(), requests.size()));
    http.request(HttpMethod.POST, port, "127.0.0.1", made.path())
        .compose(request -> request.send(made.body()))
        .compose(StubLoad::end)
        .onComplete(
            status -> {
              answered.addAndGet(status == 200 ? 1 : 0);
              next();
            },
            failure -> next());
  }

  private static Future<Integer> end(HttpClientResponse response) {
    return response.end().map(v -> response.statusCode());
  }
}
