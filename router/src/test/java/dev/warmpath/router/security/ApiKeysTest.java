package dev.warmpath.router.security;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.StartException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients with API keys, over sockets. */
class ApiKeysTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";

  @TempDir private Path folder;
  private Path file;

  @BeforeEach
  void someKeys() throws IOException {
    file = folder.resolve("keys.yaml");
    write(entry("a", "key-a") + entry("b", "key-b", "key-b2"));
  }

  @Test
  void aKeyIsNeededForAllButHealth() throws Exception {
    try (Rig rig = rig()) {
      HttpResponse<byte[]> none = rig.chat(BODY);
      assertThat(none.statusCode()).isEqualTo(401);
      assertThat(none.headers().firstValue("www-authenticate")).contains("Bearer");
      JsonNode error = JSON.readTree(none.body()).path("error");
      assertThat(error.path("code").asText()).isEqualTo("invalid_api_key");
      assertThat(post(rig, "key-x", BODY).statusCode()).isEqualTo(401);
      assertThat(post(rig, "key-a", BODY).statusCode()).isEqualTo(200);
      assertThat(post(rig, "key-b", BODY).statusCode()).isEqualTo(200);
      assertThat(post(rig, "key-b2", BODY).statusCode()).isEqualTo(200);
      assertThat(rig.get("/v1/models").statusCode()).isEqualTo(401);
      assertThat(rig.get("/metrics").statusCode()).isEqualTo(401);
      for (String open : new String[] {"/health", "/health/live", "/health/ready"}) {
        assertThat(rig.get(open).statusCode()).as(open).isEqualTo(200);
      }
      assertThat(rig.backends.get(0).bodies).hasSize(3);
      assertThat(rig.metrics().get("warmpath_rejected_total{code=\"invalid_api_key\"}"))
          .isEqualTo(4);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "authorization: Bearer key-a",
        "authorization: bearer   key-a",
        "x-api-key: key-a",
        "authorization: Basic abc\r\nx-api-key: key-a"
      })
  void aKeyIsTakenFromEitherHeader(String header) throws Exception {
    assertThat(status(header)).contains(" 200 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "authorization: key-a",
        "authorization: Bearer",
        "authorization: Bearer ",
        "authorization: Bearer key-a key-a",
        "authorization: Bearer KEY-A",
        "authorization: Bearer key-x\r\nx-api-key: key-a",
        "x-api-key: Bearer key-a",
        "x-api-key:",
        "cookie: authorization=key-a"
      })
  void whatIsNoKeyIsRefused(String header) throws Exception {
    assertThat(status(header)).contains(" 401 ");
  }

  private String status(String header) throws Exception {
    try (Rig rig = rig();
        RawClient client = new RawClient(rig.router.port())) {
      client.write("GET /v1/models HTTP/1.1\r\nhost: x\r\n" + header + "\r\n\r\n");
      return client.readUntil("\r\n");
    }
  }

  @Test
  void anthropicsPathHasAnthropicsErrors() throws Exception {
    write(entry("a", "key-a") + "    models: [other]\n    requests-per-minute: 1\n");
    try (Rig rig = rig()) {
      assertThat(anthropic(rig, "key-x", 401)).isEqualTo("authentication_error");
      assertThat(anthropic(rig, "key-a", 403)).isEqualTo("permission_error");
      assertThat(anthropic(rig, "key-a", 429)).isEqualTo("rate_limit_error");
    }
  }

  private static String anthropic(Rig rig, String key, int status) throws Exception {
    HttpRequest.Builder post = rig.post("/v1/messages", BODY.getBytes(UTF_8));
    HttpResponse<byte[]> answer = rig.send(post.header("x-api-key", key).build());
    assertThat(answer.statusCode()).isEqualTo(status);
    JsonNode error = JSON.readTree(answer.body());
    assertThat(error.path("type").asText()).isEqualTo("error");
    return error.path("error").path("type").asText();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"model\":\"n\"}",
        "{\"model\":\"m\",\"model\":\"n\"}",
        "{\"model\":\"\\u006e\"}",
        "{\"model\":[\"m\"]}",
        "{\"model\":null}",
        "{\"prompt\":\"p\"}",
        "{\"model\":\"m\"",
        "[]"
      })
  void aKeyWithModelsDoesForNoOther(String body) throws Exception {
    write(entry("a", "key-a") + "    models: [m]\n");
    try (Rig rig = rig()) {
      HttpResponse<byte[]> refused = post(rig, "key-a", body);
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(new String(refused.body(), UTF_8)).contains("\"code\":\"model_not_allowed\"");
      assertThat(post(rig, "key-a", BODY).statusCode()).isEqualTo(200);
      assertThat(rig.backends.get(0).bodies).hasSize(1);
      assertThat(rig.metrics())
          .containsEntry(counted("requests", "result", "model_forbidden"), 1.0)
          .containsEntry(counted("requests", "result", "admitted"), 1.0);
    }
  }

  @Test
  void aKeyIsShownTheModelsThatItMayUse() throws Exception {
    write(entry("a", "key-a") + "    models: [m]\n" + entry("b", "key-b") + "    models: [x]\n");
    try (Rig rig =
        rig(tree ->
            tree.put(
                "models",
                Map.of("name", "m", "tokenizer", "embedded", "aliases", List.of("alias")),
                "test"))) {
      rig.backends.get(0).models = "{\"data\":[{\"id\":\"m\"},{\"id\":\"alias\"},{\"id\":\"n\"}]}";
      Rig.until(() -> models(rig, "key-a").equals(List.of("m", "alias")));
      assertThat(models(rig, "key-b")).isEmpty();
      write(entry("c", "key-c"));
      Rig.until(() -> models(rig, "key-c").equals(List.of("m", "alias", "n")));
    }
  }

  private static List<String> models(Rig rig, String key) {
    try {
      HttpResponse<byte[]> answer =
          rig.send(
              HttpRequest.newBuilder(rig.uri("/v1/models"))
                  .header("authorization", "Bearer " + key)
                  .build());
      return JSON.readTree(answer.body()).findValuesAsText("id");
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void moreRequestsThanTheRateAreToldWhenToComeBack() throws Exception {
    write(entry("a", "key-a") + "    requests-per-minute: 2\n" + entry("b", "key-b"));
    try (Rig rig = rig()) {
      assertThat(post(rig, "key-a", BODY).statusCode()).isEqualTo(200);
      assertThat(post(rig, "key-a", BODY).statusCode()).isEqualTo(200);
      HttpResponse<byte[]> refused = post(rig, "key-a", BODY);
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(new String(refused.body(), UTF_8))
          .contains("\"type\":\"requests\"", "\"code\":\"rate_limit_exceeded\"");
      assertThat(refused.headers().firstValueAsLong("retry-after").orElseThrow())
          .isBetween(1L, 31L);
      assertThat(post(rig, "key-b", BODY).statusCode()).isEqualTo(200);
      assertThat(rig.metrics())
          .containsEntry(counted("requests", "result", "too_many_requests"), 1.0);
    }
  }

  @Test
  void tokensOfPromptsAndAnswersAreCounted() throws Exception {
    write(entry("a", "key-a") + "    tokens-per-minute: 50\n");
    try (Rig rig =
        rig(tree -> tree.put("models", Map.of("name", "m", "tokenizer", "embedded"), "test"))) {
      rig.backends.get(0).script =
          (request, body) ->
              request.response().end("{\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":60}}");
      assertThat(post(rig, "key-a", BODY).statusCode()).isEqualTo(200);
      rig.untilIdle();
      HttpResponse<byte[]> refused = post(rig, "key-a", BODY);
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(new String(refused.body(), UTF_8)).contains("\"type\":\"tokens\"");
      assertThat(refused.headers().firstValueAsLong("retry-after").orElseThrow()).isPositive();
      assertThat(rig.metrics())
          .containsEntry(counted("tokens", "kind", "prompt"), 7.0)
          .containsEntry(counted("tokens", "kind", "answer"), 60.0)
          .containsEntry(counted("requests", "result", "too_many_tokens"), 1.0);
    }
  }

  @Test
  void whatNoReplicaTookCostsNoTokens() throws Exception {
    write(entry("a", "key-a") + "    tokens-per-minute: 50\n");
    try (Rig rig = new Rig(0, this::configured)) {
      for (int i = 0; i < 3; i++) {
        assertThat(post(rig, "key-a", "{\"model\":\"m\",\"prompt\":\"" + "x".repeat(4_000) + "\"}"))
            .returns(503, HttpResponse::statusCode);
      }
    }
  }

  @Test
  void theFileIsReadAgainAndABrokenOneChangesNothing() throws Exception {
    try (Rig rig = rig()) {
      write(entry("a", "key-new"));
      Rig.until(() -> isOpenTo(rig, "key-new"));
      assertThat(isOpenTo(rig, "key-a")).isFalse();
      assertThat(isOpenTo(rig, "key-b")).isFalse();
      assertThat(rig.metrics()).containsEntry(stale(), 0.0);
      write("keys: [{name: a, sha256: [abc]}]");
      Rig.until(() -> rig.metrics().get(stale()) == 1);
      assertThat(isOpenTo(rig, "key-new")).isTrue();
      Files.delete(file);
      Rig.until(() -> rig.metrics().get(changes("failed")) == 2);
      assertThat(isOpenTo(rig, "key-new")).isTrue();
      write(entry("a", "key-new"));
      Rig.until(() -> rig.metrics().get(stale()) == 0);
      assertThat(isOpenTo(rig, "key-new")).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "keys:\n", "# keys follow\n", "{}", "\0\0\0\0"})
  void aFileWithoutKeysLocksNobodyOut(String content) throws Exception {
    try (Rig rig = rig()) {
      Files.writeString(file, content);
      Rig.until(() -> rig.metrics().get(stale()) == 1);
      assertThat(isOpenTo(rig, "key-a")).isTrue();
      Files.writeString(file, "keys: []");
      Rig.until(() -> !isOpenTo(rig, "key-a"));
    }
  }

  /** Whatever becomes of another file, a key that was withdrawn ends. */
  @Test
  void aKeyIsWithdrawnBesideAFileThatBecameAPipe() throws Exception {
    Path other = Files.writeString(folder.resolve("engine"), "engine-key");
    try (Rig rig = rig(tree -> tree.set("upstream.api-key-file", other.toString(), "test"))) {
      assertThat(isOpenTo(rig, "key-a")).isTrue();
      Files.delete(other);
      assertThat(new ProcessBuilder("mkfifo", other.toString()).start().waitFor()).isZero();
      Rig.until(() ->
          rig.metrics().get("warmpath_watched_file_stale{file=\"upstream " + other + "\"}") == 1);
      write(entry("b", "key-b"));
      Rig.until(() -> !isOpenTo(rig, "key-a"));
      assertThat(isOpenTo(rig, "key-b")).isTrue();
    }
  }

  @Test
  void aFileThatCannotBeUsedAtTheStartIsNamed() throws Exception {
    write("keys:\n  - {name: a, sha256: [" + Secrets.hash("x") + "]}\n  - {name: a, sha: []}\n");
    Assertions.assertThatThrownBy(this::rig)
        .isInstanceOf(StartException.class)
        .hasMessageContaining("auth.keys-file")
        .hasMessageContaining("keys.yaml:3")
        .hasMessageContaining("did you mean 'keys[].sha256'");
  }

  @Test
  void credentialsOfClientsStayHereOnceThereAreKeys() throws Exception {
    try (Rig rig = rig()) {
      sendAll(rig);
      assertThat(rig.backends.get(0).headers.get(0))
          .doesNotContainKeys("authorization", "x-api-key", "api-key", "cookie")
          .containsEntry("x-custom", "yes");
    }
    try (Rig rig = rig(tree -> tree.set("headers.pass-credentials", "always", "test"))) {
      sendAll(rig);
      assertThat(rig.backends.get(0).headers.get(0))
          .containsEntry("authorization", "Bearer key-a")
          .containsEntry("x-api-key", "other")
          .containsEntry("cookie", "c=1");
    }
    try (Rig rig = new Rig(1, tree -> tree.set("headers.pass-credentials", "never", "test"))) {
      sendAll(rig);
      assertThat(rig.backends.get(0).headers.get(0)).doesNotContainKeys("authorization", "cookie");
    }
  }

  private static void sendAll(Rig rig) throws Exception {
    HttpRequest.Builder post =
        rig.post("/v1/completions", BODY.getBytes(UTF_8))
            .header("Authorization", "Bearer key-a")
            .header("X-Api-Key", "other")
            .header("api-key", "third")
            .header("Cookie", "c=1")
            .header("x-custom", "yes");
    assertThat(rig.send(post.build()).statusCode()).isEqualTo(200);
  }

  @Test
  void theDecisionLogNamesTheClientAndNoKey() throws Exception {
    Path log = folder.resolve("decisions.jsonl");
    try (Rig rig = rig(tree -> tree.set("decision-log.file", log.toString(), "test"))) {
      assertThat(post(rig, "key-a", BODY).statusCode()).isEqualTo(200);
    }
    assertThat(Files.readString(log)).contains("\"client\":\"a\"").doesNotContain("key-a");
  }

  private static String stale() {
    return "warmpath_watched_file_stale{file=\"auth.keys-file\"}";
  }

  private static String changes(String result) {
    return "warmpath_watched_file_changes_total{file=\"auth.keys-file\",result=\"" + result + "\"}";
  }

  private static String counted(String what, String label, String value) {
    return "warmpath_client_%s_total{client=\"a\",%s=\"%s\"}".formatted(what, label, value);
  }

  private static boolean isOpenTo(Rig rig, String key) {
    try {
      return post(rig, key, BODY).statusCode() == 200;
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static HttpResponse<byte[]> post(Rig rig, String key, String body)
      throws IOException, InterruptedException {
    return rig.send(
        rig.post("/v1/completions", body.getBytes(UTF_8))
            .header("authorization", "Bearer " + key)
            .build());
  }

  private Rig rig() {
    return rig(tree -> tree);
  }

  private Rig rig(UnaryOperator<ConfigTree> change) {
    return new Rig(1, tree -> change.apply(configured(tree)));
  }

  private ConfigTree configured(ConfigTree tree) {
    return tree.set("auth.keys-file", file.toString(), "test")
        .set("files.poll-ms", 10, "test")
        .set("listen.metrics", true, "test")
        .set("snapshot.enabled", false, "test");
  }

  private static String entry(String name, String... keys) {
    StringBuilder hashes = new StringBuilder();
    for (String key : keys) {
      hashes.append(hashes.isEmpty() ? "" : ", ").append(Secrets.hash(key));
    }
    return "  - name: " + name + "\n    sha256: [" + hashes + "]\n";
  }

  private void write(String entries) throws IOException {
    Path fresh = folder.resolve("fresh");
    Files.writeString(fresh, entries.startsWith("keys:") ? entries : "keys:\n" + entries);
    Files.move(fresh, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
  }
}
