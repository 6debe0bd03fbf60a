package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PassThroughTest {

  private static final List<String> PATHS =
      List.of("/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses");

  private static Rig rig;
  private static Backend backend;

  @BeforeAll
  static void start() {
    rig = new Rig(1);
    backend = rig.backends.get(0);
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @BeforeEach
  void fresh() {
    backend.bodies.clear();
    backend.headers.clear();
    backend.script = (request, body) -> request.response().end("{}");
  }

  @Test
  void bodiesGoUpAsTheyCame() throws Exception {
    Random random = new Random(7);
    for (int round = 0; round < 40; round++) {
      byte[] body = oddJson(random).getBytes(UTF_8);
      String path = PATHS.get(random.nextInt(PATHS.size()));
      assertThat(rig.send(rig.post(path, body).build()).statusCode()).isEqualTo(200);
      assertThat(backend.bodies.get(round).getBytes()).isEqualTo(body);
    }
  }

  /** vLLM 0.33 names hosts and blocks of engines at the end of a stream. */
  @Test
  void hostsOfEnginesGoDownOnlyToWhoSentSome() throws Exception {
    String params = "{\"remote_host\":\"10.0.0.7\",\"remote_block_ids\":[1,2]}";
    String event = "data: {\"choices\":[],\"kv_transfer_params\":%s}\n\n".formatted(params);
    String plain = "{\"model\":\"m\"}";
    String own = "{\"model\":\"m\",\"kv_transfer_params\":{\"do_remote_decode\":true}}";
    String empty = event.replace(params, "{" + " ".repeat(params.length() - 2) + "}");
    Buffer sent = Buffer.buffer(event);
    backend.script =
        (request, body) ->
            backend.stream(request, List.of(sent.slice(0, 40), sent.slice(40, sent.length())));
    assertThat(new String(rig.chat(plain).body(), UTF_8)).isEqualTo(empty);
    assertThat(new String(rig.chat(own).body(), UTF_8)).isEqualTo(event);

    backend.script = (request, body) -> request.response().end(event.substring(6));
    assertThat(new String(rig.chat(plain).body(), UTF_8)).isEqualTo(empty.substring(6));
    for (String passes : List.of("always", "never")) {
      rig.write(tree -> tree.set("headers.pass-transfer-params", passes, "test"));
      rig.router.reload("test");
      assertThat(new String(rig.chat(own).body(), UTF_8))
          .isEqualTo(passes.equals("always") ? event.substring(6) : empty.substring(6));
    }
    rig.write(tree -> tree);
    rig.router.reload("test");
  }

  @Test
  void whatIsNotJsonGoesUpToo() throws Exception {
    for (byte[] body :
        List.of("{\"model\":".getBytes(UTF_8), new byte[] {(byte) 0xff, 0, 1}, new byte[0])) {
      backend.script = (request, b) -> request.response().setStatusCode(400).end("bad");
      HttpResponse<byte[]> response = rig.send(rig.post("/v1/completions", body).build());
      assertThat(response.statusCode()).isEqualTo(400);
      assertThat(new String(response.body(), UTF_8)).isEqualTo("bad");
    }
    assertThat(backend.bodies).hasSize(3);
    assertThat(backend.bodies.get(1).getBytes()).containsExactly(0xff, 0, 1);
  }

  @Test
  void plainResponsesComeDownAsTheyWere() throws Exception {
    byte[] answer = oddJson(new Random(3)).getBytes(UTF_8);
    Iterable<String> cookies = List.of("a=1", "b=2");
    backend.script =
        (request, body) ->
            request
                .response()
                .setStatusCode(201)
                .setStatusMessage("Fine")
                .putHeader("content-type", "application/json")
                .putHeader("x-engine", "e")
                .putHeader("set-cookie", cookies)
                .end(Buffer.buffer(answer));
    HttpResponse<byte[]> response = rig.chat("{}");
    assertThat(response.statusCode()).isEqualTo(201);
    assertThat(response.body()).isEqualTo(answer);
    assertThat(response.headers().allValues("set-cookie")).containsExactly("a=1", "b=2");
    assertThat(response.headers().firstValue("x-engine")).contains("e");
    assertThat(response.headers().firstValueAsLong("content-length")).hasValue(answer.length);
  }

  @Test
  void streamsComeDownAsTheyWereHoweverTheyAreCut() throws Exception {
    Random random = new Random(11);
    for (int round = 0; round < 10; round++) {
      byte[] events = events(random);
      List<Buffer> parts = cut(events, random);
      backend.script = (request, body) -> backend.stream(request, parts);
      HttpResponse<byte[]> response = rig.chat("{\"stream\":true}");
      assertThat(response.body()).isEqualTo(events);
      assertThat(response.headers().firstValue("content-type").orElseThrow())
          .isEqualTo("text/event-stream; charset=utf-8");
    }
    rig.untilIdle();
  }

  @Test
  void chunksAreNotHeldBack() throws Exception {
    backend.script =
        (request, body) -> {
          request.response().setChunked(true).putHeader("content-type", "text/event-stream");
          request.response().write("data: 1\n\n"); // and never more
        };
    try (var client = new dev.warmpath.router.rig.RawClient(rig.router.port())) {
      client.post("/v1/chat/completions", "{}");
      assertThat(client.readUntil("data: 1\n\n")).startsWith("HTTP/1.1 200");
    }
    rig.untilIdle();
  }

  @Test
  void anEmptyResponseIsOne() throws Exception {
    backend.script = (request, body) -> request.response().setStatusCode(204).end();
    HttpResponse<byte[]> response = rig.chat("{}");
    assertThat(response.statusCode()).isEqualTo(204);
    assertThat(response.body()).isEmpty();
  }

  @Test
  void queryAndHarmlessHeadersGoUpAndSteeringOnesDoNot() throws Exception {
    HttpRequest request =
        rig.post("/v1/completions?a=b%20c", "{}".getBytes(UTF_8))
            .header("X-Data-Parallel-Rank", "3")
            .header("X-VLLM-Priority", "-9")
            .header("x-custom", "yes")
            .header("authorization", "Bearer k")
            .header("te", "trailers")
            .header("accept-encoding", "gzip")
            .build();
    String[] uri = new String[1];
    backend.script =
        (up, body) -> {
          uri[0] = up.uri();
          up.response().end();
        };
    rig.send(request);
    Map<String, String> seen = backend.headers.get(0);
    assertThat(uri[0]).isEqualTo("/v1/completions?a=b%20c");
    assertThat(seen).containsEntry("x-custom", "yes").containsEntry("authorization", "Bearer k");
    assertThat(seen)
        .doesNotContainKeys("x-data-parallel-rank", "x-vllm-priority", "te", "accept-encoding");
    assertThat(seen).containsEntry("host", "127.0.0.1:" + backend.port());
  }

  @Test
  void headersNamedByConnectionStay() throws Exception {
    try (var client = new dev.warmpath.router.rig.RawClient(rig.router.port())) {
      client.write(
          "POST /v1/completions HTTP/1.1\r\nhost: x\r\nconnection: close, X-Secret\r\n"
              + "x-secret: s\r\nkeep-alive: 5\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
      assertThat(client.readUntil("{}")).startsWith("HTTP/1.1 200");
    }
    assertThat(backend.headers.get(0)).doesNotContainKeys("x-secret", "keep-alive");
    assertThat(backend.bodies.get(0).toString()).isEqualTo("{}");
  }

  @Test
  void hopByHopHeadersOfTheReplicaStay() throws Exception {
    backend.script =
        (request, body) ->
            request
                .response()
                .putHeader("keep-alive", "timeout=5")
                .putHeader("x-request-id", "theirs")
                .putHeader("x-warmpath-replica", "theirs")
                .putHeader("x-on", "1")
                .end("{}");
    HttpResponse<byte[]> response = rig.chat("{}");
    assertThat(response.headers().firstValue("keep-alive")).isEmpty();
    assertThat(response.headers().firstValue("x-on")).contains("1");
    assertThat(response.headers().allValues("x-request-id")).hasSize(1).doesNotContain("theirs");
    assertThat(response.headers().allValues("x-warmpath-replica")).containsExactly("r0");
  }

  @Test
  void whichPagesMayCallTheRouterIsNotTheReplicasToSay() throws Exception {
    backend.script =
        (request, body) ->
            request
                .response()
                .putHeader("Access-Control-Allow-Origin", "*")
                .putHeader("access-control-allow-credentials", "true")
                .end("{}");
    HttpRequest request =
        rig.post("/v1/completions", "{}".getBytes(UTF_8)).header("origin", "http://evil").build();
    assertThat(rig.send(request).headers().map().keySet())
        .noneMatch(name -> name.startsWith("access-control"));
    HttpRequest preflight =
        HttpRequest.newBuilder(rig.uri("/v1/completions"))
            .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
            .header("origin", "http://evil")
            .build();
    HttpResponse<byte[]> refused = rig.send(preflight);
    assertThat(refused.statusCode()).isEqualTo(405);
    assertThat(refused.headers().map().keySet())
        .noneMatch(name -> name.startsWith("access-control"));
  }

  @Test
  void requestIdsAreKeptIfHarmlessAndMadeIfNot() throws Exception {
    HttpRequest.Builder post = rig.post("/v1/completions", "{}".getBytes(UTF_8));
    HttpResponse<byte[]> kept = rig.send(post.header("x-request-id", "abc-1.2:3_4").build());
    assertThat(kept.headers().firstValue("x-request-id")).contains("abc-1.2:3_4");
    assertThat(backend.headers.get(0)).containsEntry("x-request-id", "abc-1.2:3_4");
    HttpResponse<byte[]> made =
        rig.send(
            rig.post("/v1/completions", "{}".getBytes(UTF_8))
                .header("x-request-id", "a b\tc")
                .build());
    String id = made.headers().firstValue("x-request-id").orElseThrow();
    assertThat(id).matches("wp-[0-9a-f]{32}");
    assertThat(backend.headers.get(1)).containsEntry("x-request-id", id);
  }

  @Test
  void aLargeBodyGoesThrough() throws Exception {
    byte[] body = ("{\"x\":\"" + "y".repeat(5_000_000) + "\"}").getBytes(UTF_8);
    backend.script = (request, b) -> request.response().end(b);
    assertThat(rig.send(rig.post("/v1/completions", body).build()).body()).isEqualTo(body);
  }

  private static byte[] events(Random random) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < 20; i++) {
      out.writeBytes(
          ("data: " + oddJson(random) + (random.nextBoolean() ? "\n\n" : "\r\n\r\n"))
              .getBytes(UTF_8));
    }
    out.writeBytes("data: [DONE]\n\n".getBytes(UTF_8));
    return out.toByteArray();
  }

  private static List<Buffer> cut(byte[] bytes, Random random) {
    List<Buffer> parts = new ArrayList<>();
    int at = 0;
    while (at < bytes.length) {
      int to = Math.min(bytes.length, at + 1 + random.nextInt(200));
      parts.add(Buffer.buffer(java.util.Arrays.copyOfRange(bytes, at, to)));
      at = to;
    }
    return parts;
  }

  /** JSON that a parser and a writer would hardly give back as it was. */
  private static String oddJson(Random random) {
    StringBuilder json = new StringBuilder("{");
    for (int i = 0; i < 12; i++) {
      json.append(i == 0 ? "" : random.nextBoolean() ? " ,\n\t" : ",");
      json.append('"')
          .append("zyxé漢🚀\\u0061".charAt(random.nextInt(4)))
          .append(random.nextInt(99));
      json.append(random.nextBoolean() ? "\" : " : "\":").append(oddValue(random));
    }
    return json.append(random.nextBoolean() ? " }\n" : "}").toString();
  }

  private static String oddValue(Random random) {
    String[] values = {
      "1.0",
      "1e400",
      "-0",
      "123456789012345678901234567890",
      "1.10",
      "\"\\u00e9\\/\"",
      "\"漢字🚀\"",
      "null",
      "[ ]",
      "{ }",
      "[1,[2,[3]]]",
      "true",
      "\"" + "x".repeat(random.nextInt(300)) + "\""
    };
    return values[random.nextInt(values.length)];
  }
}
