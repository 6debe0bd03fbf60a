package dev.warmpath.router.logs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.Environment;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.StartException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DecisionLogTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String USAGE =
      "\"usage\":{\"prompt_tokens\":31,\"completion_tokens\":3,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":16}}";
  private static final String SECRET = "unmistakable words of a client";

  @TempDir Path folder;
  private Path file = Path.of("");

  @BeforeEach
  void nameTheFile() {
    file = folder.resolve("logs/decisions.jsonl");
  }

  @Test
  void aStreamHasItsTimesAndTokens() throws Exception {
    try (Rig rig = new Rig(1, this::logging)) {
      Backend backend = rig.backends.get(0);
      backend.script =
          (request, body) ->
              backend.stream(
                  request,
                  List.of(
                      Buffer.buffer("data: {\"choices\":[{\"text\":\"a\"}]}\n\n"),
                      Buffer.buffer("data: {\"choices\":[]," + USAGE + "}\n\n"),
                      Buffer.buffer("data: [DONE]\n\n")));
      send(rig, completion(SECRET.repeat(40), true), "session-of-" + SECRET);
      JsonNode record = records(rig, 1).get(0);
      assertThat(record.path("path").asText()).isEqualTo("/v1/completions");
      assertThat(record.path("model").asText()).isEqualTo("m");
      assertThat(record.path("engine").asText()).isEqualTo("r0");
      assertThat(record.path("policy").asText()).isEqualTo("warm");
      assertThat(record.path("reason").asText()).isNotEmpty();
      assertThat(record.path("session").asText()).hasSize(11);
      assertThat(record.path("prompt_tokens").asInt()).isEqualTo(31);
      assertThat(record.path("cached_tokens").asInt()).isEqualTo(16);
      assertThat(record.path("answer_tokens").asInt()).isEqualTo(3);
      assertThat(record.path("in_flight").asInt(-1)).isZero();
      assertThat(record.path("waiting").asInt(-1)).isZero();
      assertThat(record.path("queued_prefill_ms").asDouble(-1)).isZero();
      assertThat(record.path("prefill_ms").asDouble()).isPositive();
      assertThat(record.path("wait_ms").asDouble(-1)).isZero();
      assertThat(record.path("outcome").asText()).isEqualTo("completed");
      assertThat(record.path("status").asInt()).isEqualTo(200);
      assertThat(record.path("attempts").asInt()).isEqualTo(1);
      double dispatch = record.path("dispatch_ms").asDouble();
      double first = record.path("ttft_ms").asDouble();
      assertThat(dispatch).isPositive().isLessThan(first);
      assertThat(first).isLessThanOrEqualTo(record.path("total_ms").asDouble());
      assertThat(pieces(record)).isNotEmpty();
    }
  }

  @Test
  void aPlainAnswerHasNoFirstToken() throws Exception {
    try (Rig rig = new Rig(1, this::logging)) {
      rig.backends.get(0).script = (request, body) -> json(request, "{" + USAGE + "}");
      send(rig, completion("hello", false), null);
      JsonNode record = records(rig, 1).get(0);
      assertThat(record.has("ttft_ms")).isFalse();
      assertThat(record.has("session")).isFalse();
      assertThat(record.path("answer_tokens").asInt()).isEqualTo(3);
      assertThat(record.path("total_ms").asDouble()).isPositive();
      assertThat(record.path("time_ms").asLong())
          .isBetween(System.currentTimeMillis() - 60_000, System.currentTimeMillis());
    }
  }

  @Test
  void aStreamWithoutUsageHasItsEventsCounted() throws Exception {
    try (Rig rig = new Rig(1, this::logging)) {
      Backend backend = rig.backends.get(0);
      Buffer event = Buffer.buffer("data: {\"choices\":[{\"text\":\"a\"}]}\n\n");
      backend.script = (request, body) -> backend.stream(request, List.of(event, event, event));
      send(rig, completion("hello", true), null);
      JsonNode record = records(rig, 1).get(0);
      assertThat(record.path("answer_events").asInt()).isEqualTo(3);
      assertThat(record.has("answer_tokens")).isFalse();
      assertThat(record.path("prompt_tokens").asInt()).isPositive();
    }
  }

  @Test
  void aRetryCountsItsAttemptsAndNamesTheLastEngine() throws Exception {
    try (Rig rig = new Rig(2, tree -> logging(tree).set("policy.name", "round-robin", "test"))) {
      rig.backends.get(0).script =
          (request, body) -> request.response().setStatusCode(503).end("no");
      rig.backends.get(1).script = (request, body) -> json(request, "{}");
      send(rig, completion("a", false), null);
      send(rig, completion("b", false), null);
      List<JsonNode> records = records(rig, 2);
      assertThat(records).allMatch(record -> record.path("engine").asText().equals("r1"));
      assertThat(records).anyMatch(record -> record.path("attempts").asInt() == 2);
      assertThat(records).allMatch(record -> record.path("outcome").asText().equals("completed"));
    }
  }

  @Test
  void aRefusedRequestHasItsCode() throws Exception {
    try (Rig rig = new Rig(1, this::logging)) {
      send(rig, "{\"model\":\"other\",\"prompt\":\"" + SECRET + "\"}", null);
      rig.backends.get(0).script = (request, body) -> request.response().setStatusCode(400).end();
      send(rig, completion("hello", false), null);
      List<JsonNode> records = records(rig, 2);
      assertThat(records.get(0).path("outcome").asText()).isEqualTo("rejected");
      assertThat(records.get(0).path("code").asText()).isEqualTo("model_not_found");
      assertThat(records.get(0).path("status").asInt()).isEqualTo(404);
      assertThat(records.get(0).path("attempts").asInt(-1)).isZero();
      assertThat(records.get(0).has("engine")).isFalse();
      assertThat(records.get(1).path("outcome").asText()).isEqualTo("error");
      assertThat(records.get(1).path("status").asInt()).isEqualTo(400);
    }
  }

  @Test
  void aClientThatLeavesIsLogged() throws Exception {
    try (Rig rig = new Rig(1, this::logging)) {
      rig.backends.get(0).script =
          (request, body) -> {
            request.response().setChunked(true).putHeader("content-type", "text/event-stream");
            request.response().write("data: {\"choices\":[{\"text\":\"a\"}]}\n\n");
          };
      try (RawClient client = new RawClient(rig.router.port())) {
        client.post("/v1/completions", completion("hello", true)).readUntil("text");
      }
      JsonNode record = records(rig, 1).get(0);
      assertThat(record.path("outcome").asText()).isEqualTo("client_gone");
      assertThat(record.path("engine").asText()).isEqualTo("r0");
      assertThat(record.path("answer_events").asInt()).isEqualTo(1);
      assertThat(record.path("ttft_ms").asDouble()).isPositive();
    }
  }

  @Test
  void theWaitInTheQueueIsItsOwn() throws Exception {
    try (Rig rig = new Rig(1, tree -> logging(tree).set("limits.replica-requests", 1, "test"))) {
      Queue<HttpServerRequest> held = new ConcurrentLinkedQueue<>();
      rig.backends.get(0).script = (request, body) -> held.add(request);
      CompletableFuture<HttpResponse<byte[]>> first = later(rig, completion("one", false));
      Rig.until(() -> held.size() == 1);
      CompletableFuture<HttpResponse<byte[]>> second = later(rig, completion("two", false));
      Rig.until(() -> rig.router.dispatcher().queued() == 1);
      json(held.remove(), "{}");
      Rig.until(() -> held.size() == 1);
      rig.vertx().setTimer(200, id -> json(held.remove(), "{}")); // no part of the wait
      first.join();
      second.join();
      List<JsonNode> records = records(rig, 2);
      assertThat(records.get(0).path("wait_ms").asDouble(-1)).isZero();
      double waited = records.get(1).path("wait_ms").asDouble();
      assertThat(waited).isPositive();
      assertThat(records.get(1).path("dispatch_ms").asDouble()).isGreaterThanOrEqualTo(waited);
    }
  }

  @Test
  void prefixesThatPromptsShareAreSeen() throws Exception {
    try (Rig rig = new Rig(1, this::logging)) {
      rig.backends.get(0).script = (request, body) -> json(request, "{}");
      String common = "one two three four five six seven ".repeat(60);
      send(rig, completion(common + "alpha beta ".repeat(60), false), "s1");
      send(rig, completion(common + "gamma delta ".repeat(60), false), "s2");
      send(rig, completion(common + "alpha beta ".repeat(200), false), "s1");
      send(rig, completion("other " + common, false), "s1");
      List<JsonNode> records = records(rig, 4);
      List<int[]> prompts = new ArrayList<>();
      for (JsonNode record : records) {
        prompts.add(pieces(record));
      }
      int shared = common(prompts.get(0), prompts.get(1));
      assertThat(shared).isGreaterThanOrEqualTo(4).isLessThan(prompts.get(0).length);
      int keep = records.get(2).path("keep").asInt();
      assertThat(keep).isGreaterThan(shared);
      assertThat(records.get(0).path("keep").asInt(-1)).isZero();
      assertThat(records.get(1).path("keep").asInt(-1)).isZero();
      assertThat(records.get(3).path("keep").asInt(-1)).isZero();
      assertThat(common(prompts.get(0), prompts.get(3))).isZero();
      assertThat(records.get(0).path("session")).isEqualTo(records.get(2).path("session"));
      assertThat(records.get(0).path("session")).isNotEqualTo(records.get(1).path("session"));
    }
  }

  @Test
  void nothingOfThePromptIsInTheFile() throws Exception {
    try (Rig rig = new Rig(1, this::logging)) {
      rig.backends.get(0).script =
          (request, body) -> json(request, "{\"choices\":[{\"text\":\"" + SECRET + "\"}]}");
      send(rig, completion(SECRET.repeat(20), false), SECRET);
      send(
          rig,
          "{\"model\":\"m\",\"prompt\":[11111,22222,33333],\"user\":\"" + SECRET + "\"}",
          null);
      send(rig, "not json " + SECRET, null);
      records(rig, 3);
      String text = Files.readString(file);
      for (String word : List.of(SECRET, "unmistakable", "words", "client", "11111", "22222")) {
        assertThat(text).doesNotContain(word);
      }
    }
  }

  @Test
  void filesRotateAndStayWithinTheirBounds() throws Exception {
    leaveAFileWithRoomFor(5_000);
    try (Rig rig =
        new Rig(
            1,
            tree ->
                logging(tree)
                    .set("decision-log.max-mb", 1, "test")
                    .set("decision-log.keep", 2, "test"))) {
      rig.backends.get(0).script = (request, body) -> json(request, "{}");
      Files.writeString(folder.resolve("logs/decisions.jsonl.1"), "of an earlier configuration");
      Files.writeString(folder.resolve("logs/decisions.jsonl.2"), "of an earlier configuration");
      for (int i = 0; i < 25; i++) {
        send(rig, UNKNOWN_MODEL, null);
      }
      Rig.until(() -> written(rig) == 25);
      assertThat(Files.size(file)).isLessThanOrEqualTo(1 << 20);
      assertThat(folder.resolve("logs/decisions.jsonl.1"))
          .isRegularFile()
          .satisfies(rotated -> assertThat(Files.size(rotated)).isBetween(900_000L, 1L << 20));
      assertThat(folder.resolve("logs/decisions.jsonl.2")).doesNotExist();
      for (String name : List.of("decisions.jsonl", "decisions.jsonl.1")) {
        List<String> lines = Files.readAllLines(folder.resolve("logs").resolve(name));
        assertThat(JSON.readTree(lines.get(0)).path("format").asText())
            .isEqualTo("warmpath-decisions");
        for (String line : lines) {
          assertThat(JSON.readTree(line).isObject()).isTrue();
        }
      }
      assertThat(rig.metrics().get("warmpath_request_log_bytes{log=\"decision\"}"))
          .isEqualTo(bytesOfFiles());
    }
  }

  @Test
  void noLineRefersToAnotherFile() throws Exception {
    leaveAFileWithRoomFor(5_000);
    try (Rig rig = new Rig(1, tree -> logging(tree).set("decision-log.max-mb", 1, "test"))) {
      rig.backends.get(0).script = (request, body) -> json(request, "{}");
      String prompt = completion("one two three four five six ".repeat(100), false);
      send(rig, prompt, "s");
      for (int i = 0; i < 25; i++) {
        send(rig, UNKNOWN_MODEL, null);
      }
      send(rig, prompt, "s");
      send(rig, prompt, "s");
      Rig.until(() -> written(rig) == 28);
      List<String> lines = Files.readAllLines(file);
      JsonNode first = JSON.readTree(lines.get(lines.size() - 2));
      JsonNode second = JSON.readTree(lines.get(lines.size() - 1));
      assertThat(first.path("keep").asInt(-1)).isZero();
      assertThat(pieces(first)).hasSizeGreaterThan(5);
      assertThat(second.path("keep").asInt()).isEqualTo(pieces(first).length);
    }
  }

  @Test
  void whatCannotBeWrittenIsCountedAndDelaysNothing() throws Exception {
    leaveAFileWithRoomFor(1_500);
    try (Rig rig = new Rig(1, tree -> logging(tree).set("decision-log.max-mb", 1, "test"))) {
      rig.backends.get(0).script = (request, body) -> json(request, "{}");
      send(rig, completion("hello", false), null);
      Rig.until(() -> written(rig) == 1);
      Files.move(file.getParent(), folder.resolve("away"));
      Files.writeString(folder.resolve("logs"), "no directory");
      for (int i = 0; i < 8; i++) {
        HttpResponse<byte[]> answer = send(rig, UNKNOWN_MODEL, null);
        assertThat(answer.statusCode()).isEqualTo(404);
      }
      assertThat(send(rig, completion("hello", false), null).statusCode()).isEqualTo(200);
      Rig.until(() -> written(rig) + dropped(rig, "disk") == 10);
      assertThat(dropped(rig, "disk")).isGreaterThanOrEqualTo(5);
      assertThat(rig.metrics())
          .containsEntry("warmpath_request_log_queue_bytes{log=\"decision\"}", 0.0)
          .containsEntry(
              "warmpath_request_log_dropped_total{cause=\"queue_full\",log=\"decision\"}", 0.0);
    }
  }

  private static final String UNKNOWN_MODEL =
      "{\"model\":\"" + "x".repeat(1_000) + "\",\"prompt\":\"p\"}";

  /** A file of a MiB, as an earlier process left it, but for so many bytes. */
  private void leaveAFileWithRoomFor(int bytes) throws Exception {
    StringBuilder lines = new StringBuilder("{\"format\":\"warmpath-decisions\"}\n");
    while (lines.length() < (1 << 20) - bytes - 1_000) {
      lines.append("{\"ballast\":\"").append("x".repeat(900)).append("\"}\n");
    }
    Files.createDirectories(file.getParent());
    Files.writeString(file, lines);
  }

  @Test
  void aFileThatCannotBeWrittenAtAllIsAnErrorOfTheStart() throws Exception {
    Files.writeString(folder.resolve("logs"), "no directory");
    assertThatThrownBy(() -> RouterProcess.start(logging(bare()).config()))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("decision-log.file");
  }

  @Test
  void twoRoutersDoNotShareAFile() throws Exception {
    try (RouterProcess first = RouterProcess.start(logging(bare()).config())) {
      assertThat(first.serving()).isZero();
      assertThatThrownBy(() -> RouterProcess.start(logging(bare()).config()))
          .isInstanceOf(StartException.class)
          .hasMessageContaining("another router writes it");
    }
  }

  @Test
  void aHalfLineOfAKilledProcessIsCutOff() throws Exception {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "{\"time_ms\":1}\n{\"time_ms\":2,\"pa");
    RouterProcess.start(logging(bare()).config()).close();
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(2).startsWith("{\"time_ms\":1}");
    assertThat(JSON.readTree(lines.get(1)).path("version").asInt()).isEqualTo(1);
  }

  @Test
  void theKeyOfTheDataDirectoryOutlivesTheProcess() throws Exception {
    Path data = folder.resolve("data");
    String first = keyOf(Environment.ofTheMachine().keepingIn(data));
    String second = keyOf(Environment.ofTheMachine().keepingIn(data));
    String other = keyOf(Environment.ofTheMachine());
    assertThat(first).isEqualTo(second).isNotEqualTo(other);
    Path key = data.resolve("decision-log.key");
    assertThat(Files.readString(key)).hasSize(64).doesNotContain(first);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(key)))
        .isEqualTo("rw-------");
    Files.writeString(key, "too short");
    assertThatThrownBy(() -> keyOf(Environment.ofTheMachine().keepingIn(data)))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("decision-log.key: must hold 64 hexadecimal digits");
  }

  @Test
  void withoutTheKeyNothingIsWrittenAndNoThreadRuns() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.chat("{\"model\":\"m\"}");
      assertThat(rig.metrics().keySet()).noneMatch(name -> name.contains("request_log"));
      Rig.until(
          () -> // those of routers before it end
          Thread.getAllStackTraces().keySet().stream()
                  .noneMatch(thread -> thread.getName().startsWith("warmpath-log")));
    }
  }

  private String keyOf(Environment environment) throws Exception {
    RouterProcess.start(logging(bare()).config(), environment).close();
    List<String> lines = Files.readAllLines(file);
    return JSON.readTree(lines.get(lines.size() - 1)).path("key").asText();
  }

  private static ConfigTree bare() {
    return ConfigTree.empty()
        .set("listen.port", 0, "test")
        .set("admin.port", 0, "test")
        .set("parity.enabled", false, "test");
  }

  private ConfigTree logging(ConfigTree tree) {
    return tree.set("policy.name", "warm", "test")
        .put("models", Map.of("name", "m", "tokenizer", "embedded"), "test")
        .set("decision-log.file", file.toString(), "test");
  }

  private static String completion(String prompt, boolean stream) {
    return "{\"model\":\"m\",\"stream\":" + stream + ",\"prompt\":\"" + prompt + "\"}";
  }

  private static void json(HttpServerRequest request, String text) {
    request.response().putHeader("content-type", "application/json").end(text);
  }

  private static HttpResponse<byte[]> send(Rig rig, String body, String session)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = rig.post("/v1/completions", body.getBytes(UTF_8));
    if (session != null) {
      request.header("x-session-id", session);
    }
    return rig.send(request.build());
  }

  private static CompletableFuture<HttpResponse<byte[]>> later(Rig rig, String body) {
    return rig.http.sendAsync(
        rig.post("/v1/completions", body.getBytes(UTF_8)).build(),
        HttpResponse.BodyHandlers.ofByteArray());
  }

  private List<JsonNode> records(Rig rig, int count) throws IOException {
    Rig.until(() -> written(rig) == count);
    List<JsonNode> records = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      records.add(JSON.readTree(line));
    }
    return records.subList(1, records.size());
  }

  private static int written(Rig rig) {
    return rig.metrics().get("warmpath_request_log_records_total{log=\"decision\"}").intValue();
  }

  private static int dropped(Rig rig, String cause) {
    String name = "warmpath_request_log_dropped_total{cause=\"" + cause + "\",log=\"decision\"}";
    return rig.metrics().get(name).intValue();
  }

  private double bytesOfFiles() throws IOException {
    return (double) Files.size(file) + Files.size(folder.resolve("logs/decisions.jsonl.1"));
  }

  private static int[] pieces(JsonNode record) {
    byte[] bytes = Base64.getDecoder().decode(record.path("pieces").asText());
    int[] pieces = new int[bytes.length / 4];
    ByteBuffer.wrap(bytes).asIntBuffer().get(pieces);
    return pieces;
  }

  private static int common(int[] one, int[] other) {
    int same = 0;
    while (same < Math.min(one.length, other.length) && one[same] == other[same]) {
      same++;
    }
    return same;
  }
}
