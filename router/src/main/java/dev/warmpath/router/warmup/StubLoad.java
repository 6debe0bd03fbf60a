package dev.warmpath.router.warmup;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A few clients, each of which sends its next request when the last was answered.
 *
 * <p>Thread-safe.
 */
final class StubLoad {

  private static final Logger LOG = LoggerFactory.getLogger(StubLoad.class);
  private static final int CLIENTS = 8;

  private final HttpClient http;
  private final int port;
  private final StubRequests requests;
  private final int limit;
  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicLong answered = new AtomicLong();
  private volatile boolean over;

  /**
   * @param limit requests that are sent at most
   */
  StubLoad(Vertx vertx, int port, StubRequests requests, int limit) {
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
    sent.getAndIncrement();
    StubRequests.Made made = requests.next();
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

  /** Reads the metrics of the router, once. */
  void scrape(int adminPort) {
    http.request(HttpMethod.GET, adminPort, "127.0.0.1", "/metrics")
        .compose(HttpClientRequest::send)
        .compose(StubLoad::end)
        .onFailure(failure -> LOG.debug("no metrics", failure));
  }

  private static Future<Integer> end(HttpClientResponse response) {
    return response.end().map(v -> response.statusCode());
  }
}
