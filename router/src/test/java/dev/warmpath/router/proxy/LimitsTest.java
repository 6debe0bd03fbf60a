package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitsTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";

  @Test
  void aBodyBeyondTheLimitIsRefusedAndGoesNowhere() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("limits.body-bytes", 1_000, "test"))) {
      byte[] tooLarge = "x".repeat(1_001).getBytes(UTF_8);
      assertThat(rig.send(rig.post("/v1/completions", tooLarge).build()).statusCode())
          .isEqualTo(413);
      HttpRequest chunked =
          HttpRequest.newBuilder(rig.uri("/v1/completions"))
              .POST(
                  HttpRequest.BodyPublishers.ofInputStream(
                      () -> new java.io.ByteArrayInputStream(tooLarge)))
              .build();
      HttpResponse<byte[]> response = rig.send(chunked);
      assertThat(response.statusCode()).isEqualTo(413);
      assertThat(new String(response.body(), UTF_8)).contains("\"code\":\"body_too_large\"");
      assertThat(rig.backends.get(0).bodies).isEmpty();
      byte[] fits = "x".repeat(1_000).getBytes(UTF_8);
      assertThat(rig.send(rig.post("/v1/completions", fits).build()).statusCode()).isEqualTo(200);
      rig.untilIdle();
    }
  }

  @Test
  void aHeadBeyondTheLimitIsRefused() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("limits.header-bytes", 1_024, "test"))) {
      try (RawClient client = new RawClient(rig.router.port())) {
        client.write(
            "GET /health HTTP/1.1\r\nhost: x\r\nx-long: " + "y".repeat(2_000) + "\r\n\r\n");
        assertThat(client.readUntil("\r\n")).contains(" 431 ");
      }
      try (RawClient client = new RawClient(rig.router.port())) {
        client.write("GET /" + "y".repeat(2_000) + " HTTP/1.1\r\nhost: x\r\n\r\n");
        assertThat(client.readUntil("\r\n")).contains(" 414 ");
      }
    }
  }

  @Test
  void aBodyThatDoesNotComeIsNotWaitedFor() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("timeouts.request-body-ms", 50, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      client.write("POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{");
      assertThat(client.readToEnd()).contains(" 408 ").contains("body_timeout");
      rig.untilIdle();
    }
  }

  /** A client on a slow line. The whole takes longer than a silence may. */
  @Test
  void bodyMayTakeAsLongAsItFlows() throws Exception {
    int silenceMs = 2_000;
    try (Rig rig = new Rig(1, tree -> tree.set("timeouts.request-body-ms", silenceMs, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      int parts = 12;
      String part = " ".repeat(1_000);
      int length = BODY.length() + parts * part.length();
      client.write(
          "POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: " + length + "\r\n\r\n");
      client.write(BODY);
      for (int i = 0; i < parts; i++) {
        pass(silenceMs / 8);
        client.write(part);
      }
      assertThat(client.readUntil("\r\n")).contains(" 200 ");
      assertThat(rig.backends.get(0).bodies).singleElement().matches(b -> b.length() == length);
    }
  }

  /** The client reads its answer only when it has written all. */
  @Test
  void restOfARefusedBodyMayTakeAsLongAsItFlows() throws Exception {
    int silenceMs = 2_000;
    try (Rig rig =
            new Rig(
                1,
                tree ->
                    tree.set("timeouts.request-body-ms", silenceMs, "test")
                        .set("limits.body-bytes", 20_000, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      int parts = 12;
      String part = " ".repeat(2_000);
      client.write(
          "POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: "
              + parts * part.length()
              + "\r\n\r\n");
      for (int i = 0; i < parts; i++) {
        pass(silenceMs / 8);
        client.write(part);
      }
      assertThat(client.readUntil("body_too_large")).contains(" 413 ");
      client.write("GET /health HTTP/1.1\r\nhost: x\r\n\r\n");
      assertThat(client.readUntil("\r\n\r\n")).contains(" 200 ");
    }
  }

  @Test
  void restOfARefusedBodyIsNotReadForEver() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("limits.body-bytes", 100_000, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      client.write(
          "POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n");
      long written = 0;
      try {
        while (written < 500_000_000) {
          client.write(" ".repeat(1 << 16));
          written += 1 << 16;
        }
      } catch (IOException e) {
        // closed
      }
      assertThat(written).isLessThan(100_000_000);
      rig.untilIdle();
    }
  }

  private static void pass(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    Rig.until(() -> System.nanoTime() - end >= 0);
  }

  @Test
  void aStreamThatTakesTooLongInAllIsCutOff() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("timeouts.total-ms", 100, "test"))) {
      Backend backend = rig.backends.get(0);
      backend.script =
          (request, body) -> {
            begin(request);
            rig.vertx().setPeriodic(10, id -> request.response().write("data: 2\n\n"));
          };
      try (RawClient client = new RawClient(rig.router.port())) {
        assertThat(client.post("/v1/completions", BODY).readToEnd())
            .contains("\"code\":\"timeout\"");
      }
      rig.untilIdle();
    }
  }

  @Test
  void aReplicaThatDoesNotAcceptIsGivenUp() throws Exception {
    try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket first = new Socket(deaf.getInetAddress(), deaf.getLocalPort());
        Socket second = new Socket(deaf.getInetAddress(), deaf.getLocalPort())) {
      Map<String, Object> replica =
          Map.of(
              "name",
              "deaf",
              "url",
              "http://127.0.0.1:" + deaf.getLocalPort(),
              "models",
              List.of("d"));
      try (Rig rig =
          new Rig(
              0,
              tree ->
                  with(
                      tree.set("timeouts.connect-ms", 100, "test")
                          .set("health.timeout-ms", 60_000, "test"),
                      replica),
              0)) {
        rig.router.fleet().replicas().get(0).health(Replica.Health.UP);
        assertThat(rig.chat("{\"model\":\"d\"}").statusCode()).isEqualTo(502);
        rig.untilIdle();
      }
      assertThat(first.isConnected() && second.isConnected()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/",
        "/v1",
        "/v1/",
        "/v1/chat/completions/",
        "/metrics",
        "/collective_rpc",
        "/sleep",
        "/v1/models/",
        "/admin/fleet",
        "//v1/models",
        "/v1/../v1/models",
        "/V1/models"
      })
  void otherPathsAreNotThere(String path) throws Exception {
    try (Rig rig = new Rig(1);
        RawClient client = new RawClient(rig.router.port())) {
      client.write("GET " + path + " HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
      assertThat(client.readToEnd()).contains(" 404 ").contains("{\"error\":{\"message\":");
      assertThat(rig.backends.get(0).headers).isEmpty();
    }
  }

  @Test
  void otherMethodsAreNotAllowed() throws Exception {
    try (Rig rig = new Rig(1)) {
      HttpResponse<byte[]> refused = rig.get("/v1/chat/completions");
      assertThat(refused.statusCode()).isEqualTo(405);
      assertThat(refused.headers().firstValue("allow")).contains("POST");
      assertThat(rig.send(rig.post("/v1/models", new byte[0]).build()).statusCode()).isEqualTo(405);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/health", "/health/live", "/health/ready", "/v1/models", "/metrics"})
  void theHeadOfAPageMayBeAskedFor(String path) throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("listen.metrics", true, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      client.write("HEAD " + path + " HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
      assertThat(client.readToEnd()).contains(" 200 ").endsWith("\r\n\r\n");
    }
  }

  @Test
  void anUnknownModelIsNotFound() throws Exception {
    try (Rig rig = new Rig(1)) {
      HttpResponse<byte[]> response =
          rig.send(rig.post("/v1/completions", "{\"model\":\"other\"}".getBytes(UTF_8)).build());
      assertThat(response.statusCode()).isEqualTo(404);
      assertThat(new String(response.body(), UTF_8)).contains("model_not_found");
    }
  }

  @Test
  void withoutReplicasItStartsAndSaysSo() throws Exception {
    try (Rig rig = new Rig(0)) {
      assertThat(rig.get("/health").statusCode()).isEqualTo(503);
      assertThat(rig.get("/health/ready").statusCode()).isEqualTo(503);
      assertThat(rig.get("/health/live").statusCode()).as("it needs no restart").isEqualTo(200);
      assertThat(rig.get("/v1/models").statusCode()).isEqualTo(503);
      HttpResponse<byte[]> response = rig.chat("{}");
      assertThat(response.statusCode()).isEqualTo(503);
      assertThat(response.headers().firstValue("retry-after")).isPresent();
    }
  }

  @Test
  void modelsOfAllReplicasAreListedOnce() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.get(0).models = models("m", "only-0");
      rig.backends.get(1).models = models("m", "only-1");
      Rig.until(() -> rig.router.fleet().replicas().stream().allMatch(r -> r.models().size() == 2));
      String list = new String(rig.get("/v1/models").body(), UTF_8);
      assertThat(list).startsWith("{\"object\":\"list\",\"data\":[").containsOnlyOnce("\"m\"");
      assertThat(list).contains("only-0").contains("only-1").contains("\"max_model_len\":77");
      for (int i = 0; i < 3; i++) {
        rig.chat("{\"model\":\"only-1\"}");
      }
      assertThat(rig.backends.get(0).bodies).isEmpty();
      assertThat(rig.backends.get(1).bodies).hasSize(3);
    }
  }

  @Test
  void aReplicaThatFailsItsChecksGetsNothingUntilItIsWell() throws Exception {
    try (Rig rig =
        new Rig(2, tree -> tree.set("health.fall", 2, "test").set("health.rise", 2, "test"))) {
      assertThat(rig.get("/health").statusCode()).isEqualTo(200);
      rig.backends.get(0).health = 503;
      Rig.until(() -> rig.up() == 1);
      for (int i = 0; i < 4; i++) {
        rig.chat(BODY);
      }
      assertThat(rig.backends.get(0).bodies).isEmpty();
      rig.backends.get(1).health = 500;
      Rig.until(() -> rig.up() == 0);
      assertThat(rig.get("/health").statusCode()).isEqualTo(503);
      assertThat(rig.chat(BODY).statusCode()).as("the least bad").isEqualTo(200);
      rig.backends.get(0).health = 200;
      Rig.until(() -> rig.up() == 1);
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void aReplicaThatComesLateIsFound() throws Exception {
    Socket reserved = Rig.reserved();
    int port = reserved.getLocalPort();
    Map<String, Object> late = Map.of("name", "late", "url", "http://127.0.0.1:" + port);
    Vertx vertx = Vertx.vertx();
    try (Rig rig = new Rig(1, tree -> with(tree, late), 1)) {
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      try (Backend backend = new Backend(vertx, port)) {
        Rig.until(() -> rig.up() == 2);
        rig.chat(BODY);
        rig.chat(BODY);
        assertThat(backend.bodies).isNotEmpty();
      }
    } finally {
      reserved.close();
      vertx.close().toCompletionStage().toCompletableFuture().join();
    }
  }

  private static ConfigTree with(ConfigTree tree, Map<String, Object> replica) {
    return tree.put("replicas", replica, "test");
  }

  private static void begin(io.vertx.core.http.HttpServerRequest request) {
    request.response().setChunked(true).putHeader("content-type", "text/event-stream");
    request.response().write("data: 1\n\n");
  }

  private static String models(String... ids) {
    StringBuilder data = new StringBuilder();
    for (String id : ids) {
      data.append(data.isEmpty() ? "" : ",")
          .append("{\"id\":\"")
          .append(id)
          .append("\",\"max_model_len\":77}");
    }
    return "{\"object\":\"list\",\"data\":[" + data + "]}";
  }
}
