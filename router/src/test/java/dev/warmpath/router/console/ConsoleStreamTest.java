package dev.warmpath.router.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The stream of events over sockets, with a source that counts. */
class ConsoleStreamTest {

  private static final long TURN_MILLIS = 10;

  private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger turns = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private final List<RawClient> clients = new ArrayList<>();
  private volatile boolean allowed = true;
  private volatile String payload = "{}";
  private ConsoleStream stream;
  private HttpServer server;

  @BeforeEach
  void serve() {
    ConsoleStream.Source source =
        new ConsoleStream.Source() {
          @Override
          public void begin() {
            begun.incrementAndGet();
          }

          @Override
          public String first() {
            return ConsoleStream.event("first", "{}");
          }

          @Override
          public String next(long turn) {
            return ConsoleStream.event("turn-" + turns.incrementAndGet(), payload);
          }
        };
    CompletableFuture<HttpServer> listening = new CompletableFuture<>();
    vertx.runOnContext(v -> {
      stream = new ConsoleStream(vertx, source, TURN_MILLIS);
      vertx
          .createHttpServer()
          .requestHandler(this::join)
          .listen(0, "127.0.0.1")
          .onSuccess(listening::complete);
    });
    server = listening.join();
  }

  private void join(HttpServerRequest request) {
    if (!stream.join(request, () -> allowed)) {
      refused.incrementAndGet();
      request.response().setStatusCode(503).end();
    }
  }

  @AfterEach
  void close() throws IOException {
    for (RawClient client : clients) {
      client.close();
    }
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void withoutAListenerNothingIsComputed() throws Exception {
    RawClient client = listen();
    client.readUntil("turn-3");
    client.close();
    Rig.until(() -> stream.listeners() == 0);
    int known = settled();
    awaitTurns(20);
    assertThat(turns.get()).isEqualTo(known);

    listen().readUntil("event: first");
    Rig.until(() -> turns.get() > known);
    assertThat(begun.get()).isEqualTo(2);
  }

  /** A turn that had begun when the last listener left still ends. */
  private int settled() {
    awaitTurns(20);
    return turns.get();
  }

  /** So many turns' time passes, by the same clock that makes turns. */
  private void awaitTurns(int count) {
    CompletableFuture<Void> over = new CompletableFuture<>();
    vertx.setTimer(count * TURN_MILLIS, id -> over.complete(null));
    over.join();
  }

  @Test
  void aTurnIsComputedOnceForAll() throws Exception {
    RawClient one = listen();
    RawClient other = listen();
    one.readUntil("event: first");
    other.readUntil("event: first");
    int from = turns.get();
    String last = "event: turn-" + (from + 5) + "\n";
    assertThat(one.readUntil(last)).containsOnlyOnce("event: turn-" + (from + 3) + "\n");
    assertThat(other.readUntil(last)).containsOnlyOnce("event: turn-" + (from + 3) + "\n");
    assertThat(begun.get()).isEqualTo(1);
  }

  @Test
  void onlySoManyMayListen() throws Exception {
    for (int i = 0; i < ConsoleStream.MOST_LISTENERS; i++) {
      listen().readUntil("event: first");
    }
    assertThat(stream.listeners()).isEqualTo(ConsoleStream.MOST_LISTENERS);
    assertThat(listen().readUntil("\r\n")).contains(" 503 ");
    clients.get(0).close();
    Rig.until(() -> stream.listeners() < ConsoleStream.MOST_LISTENERS);
    listen().readUntil("event: first");
    assertThat(refused.get()).isEqualTo(1);
  }

  @Test
  void aListenerThatDoesNotReadIsDropped() throws Exception {
    payload = "x".repeat(4 << 20);
    RawClient slow = new RawClient(server.actualPort(), 4_096);
    clients.add(slow);
    slow.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    Rig.until(() -> turns.get() > 0 && stream.listeners() == 0);
    payload = "{}";
    listen().readUntil("event: turn");
  }

  @Test
  void aListenerWhoseKeyHoldsNoMoreIsCut() throws Exception {
    RawClient client = listen();
    client.readUntil("event: turn");
    allowed = false;
    client.readToEnd();
    Rig.until(() -> stream.listeners() == 0);
  }

  private RawClient listen() throws IOException {
    RawClient client = new RawClient(server.actualPort());
    clients.add(client);
    return client.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  }
}
