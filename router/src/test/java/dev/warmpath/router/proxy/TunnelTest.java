package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.UpgradeRejectedException;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import io.vertx.core.http.WebSocketFrame;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** WebSockets of clients, joined to those of replicas. */
class TunnelTest {

  /** A client that nobody holds is closed when garbage is collected, with its connections. */
  private static final List<WebSocketClient> HELD = new CopyOnWriteArrayList<>();

  private final List<ServerWebSocket> ups = new CopyOnWriteArrayList<>();

  @Test
  void framesGoBothWaysAndTheEndIsTold() throws Exception {
    try (Rig rig = new Rig(2)) {
      accept(rig, socket -> socket.frameHandler(frame -> echo(socket, frame)));
      WebSocket client = connect(rig, "/v1/realtime?model=m");
      assertThat(rig.inFlight()).isEqualTo(1);
      assertThat(rig.router.serving()).isEqualTo(1);
      Rig.until(() -> ups.size() == 1);
      assertThat(ups.get(0).query()).isEqualTo("model=m");
      assertThat(ups.get(0).headers().get("x-custom")).isEqualTo("yes");

      List<String> got = new CopyOnWriteArrayList<>();
      client.frameHandler(frame -> {
        if (!frame.isClose()) {
          got.add((frame.isBinary() ? "b" : "t") + frame.isFinal() + frame.binaryData().length());
        }
      });
      String large = "x".repeat(300_000);
      client.writeFrame(WebSocketFrame.textFrame("{\"type\":\"a\"}", true));
      client.writeFrame(WebSocketFrame.binaryFrame(Buffer.buffer(large), true));
      client.writeFrame(WebSocketFrame.textFrame("part", false));
      client.writeFrame(WebSocketFrame.continuationFrame(Buffer.buffer("rest"), true));
      Rig.until(() -> got.size() == 4);
      assertThat(got)
          .startsWith("ttrue12", "btrue300000", "tfalse4")
          .last()
          .asString()
          .endsWith("4");

      client.close((short) 4_001, "enough");
      rig.untilIdle();
      Rig.until(() -> ups.get(0).isClosed());
      assertThat(ups.get(0).closeStatusCode()).isEqualTo((short) 4_001);
      assertThat(ups.get(0).closeReason()).isEqualTo("enough");
      assertThat(rig.metrics())
          .containsEntry(
              "warmpath_requests_total{ending=\"complete\",path=\"/v1/realtime\",status=\"101\"}",
              1.0);
    }
  }

  @Test
  void theReplicasEndIsTheClients() throws Exception {
    try (Rig rig = new Rig(1)) {
      accept(rig, socket -> socket.textMessageHandler(text -> socket.close((short) 1_008, text)));
      WebSocket client = connect(rig, "/v1/realtime");
      client.writeTextMessage("no");
      Rig.until(client::isClosed);
      assertThat(client.closeStatusCode()).isEqualTo((short) 1_008);
      assertThat(client.closeReason()).isEqualTo("no");
      rig.untilIdle();
    }
  }

  @Test
  void requestWhoseBodyDoesNotComeHoldsNoReplica() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("timeouts.request-body-ms", 1_000, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      accept(rig, socket -> {});
      client.write(
          "GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
              + "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
              + "content-length: 1\r\n\r\n");
      Rig.until(() -> ups.size() == 1);
      assertThat(client.readToEnd()).doesNotContain(" 101 ");
      rig.untilIdle();
      Rig.until(() -> ups.get(0).isClosed());
    }
  }

  @Test
  void engineThatIsAliveAndTakesLongIsNotBlamed() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("timeouts.first-byte-ms", 100, "test"))) {
      rig.backends.get(0).onHead = request -> {};
      assertThat(refusal(rig, "/v1/realtime")).isEqualTo(504);
      rig.untilIdle();
      assertThat(rig.metrics())
          .containsKey("warmpath_outcomes_total{engine=\"r0\",outcome=\"cancelled\"}")
          .doesNotContainKey("warmpath_outcomes_total{engine=\"r0\",outcome=\"failed\"}");
    }
  }

  @Test
  void itLivesLongerThanAnIdleConnection() throws Exception {
    try (Rig rig =
        new Rig(
            1,
            tree ->
                tree.set("timeouts.keep-alive-ms", 20, "test")
                    .set("timeouts.request-head-ms", 1_000, "test"))) {
      accept(rig, socket -> socket.frameHandler(frame -> echo(socket, frame)));
      WebSocket client = connect(rig, "/v1/realtime");
      try (RawClient silent = new RawClient(rig.router.port());
          RawClient idle = new RawClient(rig.router.port())) { // as long as the tunnel, or less
        assertThat(idle.write("GET /health HTTP/1.1\r\nhost: x\r\n\r\n").readToEnd())
            .contains(" 200 ");
        assertThat(silent.readToEnd()).isEmpty();
      }
      assertThat(client.isClosed()).isFalse();
      client.close();
      rig.untilIdle();
    }
  }

  @Test
  void slowReaderStopsTheOtherSide() throws Exception {
    try (Rig rig = new Rig(1)) {
      AtomicLong written = new AtomicLong();
      AtomicBoolean stopped = new AtomicBoolean();
      accept(rig, socket -> {});
      WebSocket client = connect(rig, "/v1/realtime");
      client.pause();
      Rig.until(() -> ups.size() == 1);
      rig.vertx().runOnContext(v -> flood(rig, ups.get(0), written, stopped));
      Rig.until(stopped::get);
      assertThat(written.get()).isLessThan(64L << 20);
      client.resume();
      long before = written.get();
      Rig.until(() -> written.get() > before + (4L << 20));
      client.close();
      rig.untilIdle();
    }
  }

  @Test
  void refusalsAreTold() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.backends.get(0).script =
          (request, body) -> request.response().setStatusCode(403).end("{}");
      assertThat(refusal(rig, "/v1/realtime")).isEqualTo(403);
      for (String raw : List.of("200 OK", "204 X", "302 X", "102 X", "999 X")) {
        rig.backends.get(0).script =
            (request, body) ->
                Backend.raw(request, "HTTP/1.1 " + raw + "\r\ncontent-length: 0\r\n\r\n");
        assertThat(refusal(rig, "/v1/realtime")).as(raw).isEqualTo(502);
      }
      assertThat(refusal(rig, "/v1/realtime?model=unknown")).isEqualTo(503);
      assertThat(refusal(rig, "/v1/chat/completions")).isEqualTo(426);
      assertThat(rig.get("/v1/realtime").statusCode()).isEqualTo(426);
      rig.untilIdle();
    }
  }

  @Test
  void eachIsALineOfTheAccessLog(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("access.jsonl");
    try (Rig rig = new Rig(1, tree -> tree.set("access-log.file", file.toString(), "test"))) {
      accept(rig, socket -> {});
      connect(rig, "/v1/realtime?model=m").close();
      rig.untilIdle();
      refusal(rig, "/v1/realtime?model=unknown");
    }
    List<String> lines = Files.readAllLines(file);
    assertThat(lines.get(0))
        .contains("\"path\":\"/v1/realtime\",\"model\":\"m\",\"engine\":\"r0\"")
        .contains("\"outcome\":\"completed\",\"status\":101");
    assertThat(lines.get(1)).contains("\"outcome\":\"rejected\",\"status\":503");
  }

  @Test
  void theProcessEndsIt() throws Exception {
    try (Rig rig = new Rig(1)) {
      accept(rig, socket -> {});
      WebSocket client = connect(rig, "/v1/realtime");
      rig.router.close();
      Rig.until(client::isClosed);
      assertThat(client.closeStatusCode()).isEqualTo((short) 1_001);
      assertThat(rig.inFlight()).isZero();
    }
  }

  @Test
  void theProcessEndsOneThatItsReplicaHasAcceptedAndItsClientHasNot() throws Exception {
    try (Rig rig = new Rig(1);
        RawClient client = new RawClient(rig.router.port())) {
      accept(rig, socket -> {});
      client.write(
          "GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
              + "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
              + "content-length: 1\r\n\r\n");
      Rig.until(() -> ups.size() == 1);
      rig.router.close();
      assertThat(client.readToEnd()).doesNotContain(" 101 ");
      Rig.until(() -> ups.get(0).isClosed());
      assertThat(ups.get(0).closeStatusCode()).isEqualTo((short) 1_001);
      assertThat(rig.inFlight()).isZero();
      assertThat(rig.router.serving()).isZero();
    }
  }

  @Test
  void aReloadLetsAReplicaHaveMore() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("limits.replica-requests", 1, "test"))) {
      accept(rig, socket -> {});
      connect(rig, "/v1/realtime");
      rig.write(tree -> tree.set("limits.replica-requests", 3, "test"));
      assertThat(rig.router.reload("test").problems()).isEmpty();
      connect(rig, "/v1/realtime");
      connect(rig, "/v1/realtime");
      assertThat(rig.inFlight()).isEqualTo(3);
    }
  }

  private void accept(Rig rig, Consumer<ServerWebSocket> then) {
    rig.backends.forEach(backend ->
        backend.onWebSocket =
            socket -> {
              ups.add(socket);
              then.accept(socket);
            });
  }

  private static void echo(ServerWebSocket socket, WebSocketFrame frame) {
    if (!frame.isClose()) {
      socket.writeFrame(frame);
    }
  }

  private static void flood(
      Rig rig, ServerWebSocket socket, AtomicLong written, AtomicBoolean stopped) {
    Buffer chunk = Buffer.buffer("y".repeat(65_536));
    while (!socket.isClosed() && !socket.writeQueueFull()) {
      socket.writeBinaryMessage(chunk);
      written.addAndGet(chunk.length());
    }
    if (socket.isClosed()) {
      return;
    }
    AtomicBoolean drained = new AtomicBoolean();
    socket.drainHandler(v -> {
      drained.set(true);
      flood(rig, socket, written, stopped);
    });
    rig.vertx()
        .setTimer(
            300,
            id -> {
              if (!drained.get()) {
                stopped.set(true);
              }
            });
  }

  private static int refusal(Rig rig, String path) {
    assertThatThrownBy(() -> connect(rig, path)).isInstanceOf(ExecutionException.class);
    try {
      connect(rig, path);
      return 101;
    } catch (Exception e) {
      UpgradeRejectedException rejected = (UpgradeRejectedException) e.getCause();
      assertThat(rejected.getBody().toString(UTF_8)).contains("error");
      return rejected.getStatus();
    }
  }

  private static WebSocket connect(Rig rig, String uri) throws Exception {
    WebSocketConnectOptions options = new WebSocketConnectOptions();
    options.setHost("127.0.0.1").setPort(rig.router.port()).setURI(uri);
    options.addHeader("x-custom", "yes");
    WebSocketClient client =
        rig.vertx().createWebSocketClient(new WebSocketClientOptions().setMaxFrameSize(1 << 20));
    HELD.add(client);
    return await(client.connect(options));
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future
        .toCompletionStage()
        .toCompletableFuture()
        .get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }
}
