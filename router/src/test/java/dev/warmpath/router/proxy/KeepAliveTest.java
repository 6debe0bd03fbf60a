package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.http.HttpServerRequest;
import java.net.http.HttpResponse;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A stream's line to its client stays warm. Engines hold their requests until the test answers
 * them.
 */
class KeepAliveTest {

  private static final String STREAM = "{\"model\":\"m\",\"prompt\":\"p\",\"stream\":true}";
  private static final String PLAIN = "{\"model\":\"m\",\"prompt\":\"p\"}";
  private static final String COMMENT = ": keep-alive\n\n";
  private static final String CHAT = "/v1/chat/completions";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Queue<HttpServerRequest> held = new ConcurrentLinkedQueue<>();

  @Test
  void inTheQueueBeforeTheFirstByteAndBetweenEvents() throws Exception {
    try (Rig rig = rig(1, tree -> tree.set("limits.replica-requests", 1, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      CompletableFuture<HttpResponse<byte[]>> first = rig.chatLater(PLAIN);
      HttpServerRequest running = held();
      client.post(CHAT, STREAM);
      String head = comments(client, 3);
      assertThat(head)
          .startsWith("HTTP/1.1 200 ")
          .contains("content-type: text/event-stream")
          .contains("x-request-id: ");
      assertThat(rig.router.dispatcher().queued()).isEqualTo(1);

      running.response().end("{}");
      first.join();
      HttpServerRequest request = held();
      comments(client, 3);
      begin(request, "data: 1\n\n");
      client.readUntil("data: 1\n\n");
      comments(client, 3);
      request.response().end("data: 2\n\n");
      String rest = client.readUntil("0\r\n\r\n");
      assertThat(rest).contains("data: 2\n\n").doesNotContain("HTTP/1.1");
      rig.untilIdle();
    }
  }

  @Test
  void neverWithinAnEvent() throws Exception {
    try (Rig rig = rig(1)) {
      CompletableFuture<HttpResponse<byte[]>> answer = rig.chatLater(STREAM);
      HttpServerRequest request = held();
      begin(request, "data: 1\n\ndata: {\"a");
      pass(300);
      request.response().end("\":1}\n\n");
      String seen = new String(answer.join().body(), UTF_8);
      assertThat(seen).contains("data: {\"a\":1}\n\n");
      assertThat(seen.replace(COMMENT, "")).isEqualTo("data: 1\n\ndata: {\"a\":1}\n\n");
    }
  }

  @Test
  void duringABackOffAndRetriesRemain() throws Exception {
    try (Rig rig =
            rig(
                2,
                tree ->
                    tree.set("retry.backoff-ms", 400, "test")
                        .set("retry.backoff-limit-ms", 400, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      client.post(CHAT, STREAM);
      HttpServerRequest first = held();
      comments(client, 2);
      first.connection().close();
      Rig.until(() -> rig.metrics().containsKey("warmpath_retries_total{cause=\"no_response\"}"));
      comments(client, 1);
      HttpServerRequest second = held();
      comments(client, 2);
      begin(second, "data: other\n\n");
      second.response().end();
      assertThat(client.readUntil("0\r\n\r\n")).contains("data: other\n\n");
      rig.untilIdle();
    }
  }

  @Test
  void whatIsNotStreamedIsNotBegun() throws Exception {
    try (Rig rig = rig(1)) {
      CompletableFuture<HttpResponse<byte[]>> answer = rig.chatLater(PLAIN);
      HttpServerRequest request = held();
      pass(200);
      request.response().setStatusCode(400).end("wrong");
      assertThat(answer.join().statusCode()).isEqualTo(400);
      assertThat(new String(answer.join().body(), UTF_8)).isEqualTo("wrong");
    }
  }

  /** The engine's head says that no stream comes; its body takes longer. */
  @Test
  void knownRefusalKeepsItsStatus() throws Exception {
    try (Rig rig = rig(1, tree -> tree.set("timeouts.sse-keep-alive-ms", 2_000, "test"))) {
      CompletableFuture<HttpResponse<byte[]>> answer = rig.chatLater(STREAM);
      HttpServerRequest request = held();
      request.response().setStatusCode(422).setChunked(true).writeHead();
      pass(3_000);
      request.response().end("wrong");
      assertThat(answer.join().statusCode()).isEqualTo(422);
      assertThat(new String(answer.join().body(), UTF_8)).isEqualTo("wrong");
    }
  }

  @Test
  void clientThatLeavesTheQueueLeavesNothing() throws Exception {
    try (Rig rig = rig(1, tree -> tree.set("limits.replica-requests", 1, "test"))) {
      CompletableFuture<HttpResponse<byte[]>> first = rig.chatLater(PLAIN);
      HttpServerRequest running = held();
      try (RawClient client = new RawClient(rig.router.port())) {
        comments(client.post(CHAT, STREAM), 1);
      }
      Rig.until(() -> rig.router.dispatcher().queued() == 0);
      running.response().end("{}");
      first.join();
      rig.untilIdle();
      assertThat(rig.backends.get(0).bodies).hasSize(1);
    }
  }

  @Test
  void noKeepAliveByDefault() throws Exception {
    try (Rig rig = rig(1, tree -> tree.set("timeouts.sse-keep-alive-ms", 0, "test"))) {
      CompletableFuture<HttpResponse<byte[]>> answer = rig.chatLater(STREAM);
      HttpServerRequest request = held();
      request.response().setStatusCode(418).end("teapot");
      assertThat(answer.join().statusCode()).isEqualTo(418);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses"})
  void errorAfterTheHeadIsAnEventOfTheClientsApi(String path) throws Exception {
    try (Rig rig =
            rig(
                1,
                tree ->
                    tree.set("limits.replica-requests", 1, "test")
                        .set("queue.timeout-ms", 2_000, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      CompletableFuture<HttpResponse<byte[]>> first = rig.chatLater(PLAIN);
      HttpServerRequest running = held();
      client.post(path, STREAM);
      comments(client, 1);
      JsonNode error = error(path, client.readUntil("0\r\n\r\n"));
      assertThat(error.path("message").asText()).contains("No replica had room");
      if (!path.equals("/v1/messages")) {
        assertThat(error.path("code").asText()).isEqualTo("queue_timeout");
      }
      running.response().end("{}");
      first.join();
      rig.untilIdle();
      assertThat(rig.metrics())
          .containsEntry("warmpath_rejected_total{code=\"queue_timeout\"}", 1.0)
          .containsEntry(
              "warmpath_requests_total{ending=\"cut_off\",path=\"" + path + "\",status=\"200\"}",
              1.0);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/chat/completions", "/v1/messages", "/v1/responses"})
  void refusalAfterTheHeadIsAnEventWithTheEnginesReason(String path) throws Exception {
    try (Rig rig = rig(1);
        RawClient client = new RawClient(rig.router.port())) {
      client.post(path, STREAM);
      comments(client, 1);
      held()
          .response()
          .setStatusCode(400)
          .end(
              "{\"error\":{\"message\":\"too\\nlong\",\"type\":\"BadRequestError\",\"code\":400}}");
      JsonNode error = error(path, client.readUntil("0\r\n\r\n"));
      assertThat(error.path("message").asText()).isEqualTo("too\nlong");
      assertThat(error.path("type").asText())
          .isEqualTo(path.equals("/v1/messages") ? "invalid_request_error" : "BadRequestError");
      rig.untilIdle();
    }
  }

  @Test
  void whatIsNoStreamIsAnErrorAfterTheHead() throws Exception {
    for (String encoding : new String[] {null, "gzip"}) {
      try (Rig rig = rig(1);
          RawClient client = new RawClient(rig.router.port())) {
        client.post(CHAT, STREAM);
        comments(client, 1);
        HttpServerRequest request = held();
        request
            .response()
            .putHeader("content-type", encoding == null ? "text/html" : "text/event-stream");
        if (encoding != null) {
          request.response().putHeader("content-encoding", encoding);
        }
        request.response().end("data: 1\n\n");
        assertThat(client.readUntil("0\r\n\r\n")).contains("status_200").doesNotContain("data: 1");
        rig.untilIdle();
      }
    }
  }

  /** In the middle of a stream, whether keep-alive is on or not. */
  @Test
  void brokenResponsesStreamEndsWithATypedEvent() throws Exception {
    try (Rig rig = rig(1, tree -> tree.set("timeouts.sse-keep-alive-ms", 0, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      client.post("/v1/responses", STREAM);
      HttpServerRequest request = held();
      begin(
          request,
          "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0}\n\n"
              + "event: response.in_progress\ndata: {\"sequence_number\":1}\n\n: comment\n\n");
      client.readUntil(": comment\n\n");
      request.connection().close();
      JsonNode event = event(client.readToEnd());
      assertThat(event.path("sequence_number").asInt(-1)).isEqualTo(2);
      assertThat(event.path("code").asText()).isEqualTo("stream_broken");
      assertThat(event.path("error").path("code").asText()).isEqualTo("stream_broken");
      rig.untilIdle();
    }
  }

  /** An engine's comments show that it is there, and nothing of the answer. */
  @Test
  void commentIsNotTheFirstByte() throws Exception {
    try (Rig rig = rig(1, tree -> tree.set("timeouts.sse-keep-alive-ms", 0, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      client.post(CHAT, STREAM);
      HttpServerRequest request = held();
      begin(request, ": ping\r");
      client.readUntil(": ping\r");
      request.response().write("\n\r\n: p");
      client.readUntil(": p");
      assertThat(firstBytes(rig)).isZero();
      request.response().write("ing\n\nda");
      client.readUntil("da");
      Rig.until(() -> firstBytes(rig) == 1);
      request.response().end("ta: 1\n\n");
      client.readUntil("0\r\n\r\n");
      assertThat(firstBytes(rig)).isEqualTo(1);
    }
  }

  private static double firstBytes(Rig rig) {
    return rig.metrics().getOrDefault("warmpath_first_byte_seconds_count{replica=\"r0\"}", 0.0);
  }

  /** The error in the only event that is none of the engine's. */
  private static JsonNode error(String path, String seen) throws Exception {
    JsonNode event = event(seen);
    switch (path) {
      case "/v1/messages" -> {
        assertThat(seen).contains("event: error\ndata: ");
        assertThat(event.path("type").asText()).isEqualTo("error");
      }
      case "/v1/responses" -> {
        assertThat(seen).contains("event: error\ndata: ");
        assertThat(event.path("type").asText()).isEqualTo("error");
        assertThat(event.path("sequence_number").asInt(-1)).isZero();
        assertThat(event.path("message")).isEqualTo(event.path("error").path("message"));
        assertThat(event.path("code")).isEqualTo(event.path("error").path("code"));
      }
      default -> assertThat(seen).doesNotContain("event:");
    }
    return event.path("error");
  }

  private static JsonNode event(String seen) throws Exception {
    int begin = seen.lastIndexOf("data: ") + "data: ".length();
    return JSON.readTree(seen.substring(begin, seen.indexOf("\n\n", begin)));
  }

  /** Reads until so many more comments have come. */
  private static String comments(RawClient client, int count) throws Exception {
    StringBuilder seen = new StringBuilder();
    for (int i = 0; i < count; i++) {
      seen.append(client.readUntil(COMMENT));
    }
    return seen.toString();
  }

  private Rig rig(int replicas) {
    return rig(replicas, tree -> tree);
  }

  private Rig rig(int replicas, UnaryOperator<ConfigTree> more) {
    Rig rig =
        new Rig(
            replicas,
            tree ->
                more.apply(
                    tree.set("timeouts.sse-keep-alive-ms", 30, "test")
                        .set("tokenizing.deadline-ms", 60_000, "test")));
    rig.backends.forEach(b -> b.script = (request, body) -> held.add(request));
    return rig;
  }

  private HttpServerRequest held() {
    Rig.until(() -> !held.isEmpty());
    return held.remove();
  }

  private static void pass(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    Rig.until(() -> System.nanoTime() - end >= 0);
  }

  private static void begin(HttpServerRequest request, String text) {
    request.response().setChunked(true).putHeader("content-type", "text/event-stream");
    request.response().write(text);
  }
}
