package dev.warmpath.router.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.Environment;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.cli.ServeFlags;
import dev.warmpath.router.config.ConfigChanges.ConfigChange;
import dev.warmpath.router.config.Reloader.ReloadResult;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Load;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Another configuration while requests run. */
class ReloadTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String REPLICA = "replicas: [{name: a, url: 'http://127.0.0.1:1'}]";
  private static final String BODY = "{\"model\":\"m\"}";

  @Test
  void aHundredReloadsFailNoRequest() throws Exception {
    try (Rig rig = new Rig(2, tree -> tree.set("tokenizing.deadline-ms", 10_000, "test"));
        Backend third = new Backend(rig.vertx())) {
      Map<String, Object> x = Map.of("name", "x", "url", third.url(), "models", List.of("m"));
      List<UnaryOperator<ConfigTree>> variants =
          List.of(
              tree -> tree.put("replicas", x, "test"),
              tree -> tree.set("policy.name", "warm", "test").set("retry.attempts", 2, "test"),
              tree -> tree.set("policy.name", "power-of-two", "test").put("replicas", x, "test"),
              tree -> tree.set("limits.requests", 100, "test").set("queue.requests", 7, "test"),
              tree -> tree.set("limits.replica-requests", 5_000, "test"),
              tree -> tree.set("health.interval-ms", 30, "test").put("replicas", x, "test"));
      Load load = new Load(rig, 4, BODY);
      try (load) {
        for (int i = 0; i < 100; i++) {
          rig.write(variants.get(i % variants.size()));
          ReloadResult result = rig.router.reload("test");
          assertThat(result.problems()).isEmpty();
          assertThat(result.applied()).isNotEmpty();
          assertThat(result.needsRestart()).isEmpty();
          long answered = load.answered();
          Rig.until(() -> load.answered() > answered + 10);
        }
      }
      assertThat(load.failures()).isEmpty();
      assertThat(rig.metrics())
          .containsEntry("warmpath_config_reloads_total{result=\"applied\"}", 100.0);
    }
  }

  @Test
  void changesWhatRequestsMeet() throws Exception {
    try (Rig rig = new Rig(1)) {
      assertThat(rig.get("/metrics").statusCode()).isEqualTo(404);
      rig.write(tree ->
          tree.set("limits.body-bytes", 20, "test")
              .set("headers.replica", false, "test")
              .set("listen.metrics", true, "test"));
      assertThat(rig.router.reload("test").applied())
          .extracting(ConfigChange::toString)
          .containsExactly(
              "listen.metrics: false → true",
              "limits.body-bytes: 67108864 → 20",
              "headers.replica: true → false");
      assertThat(rig.chat(BODY).headers().firstValue("x-warmpath-replica")).isEmpty();
      assertThat(rig.chat(BODY + " ".repeat(20)).statusCode()).isEqualTo(413);
      assertThat(rig.get("/metrics").statusCode()).isEqualTo(200);

      rig.write(tree -> tree.set("limits.requests", 1, "test").set("queue.requests", 0, "test"));
      rig.router.reload("test");
      rig.backends.get(0).script = (request, body) -> {};
      var hanging = rig.chatLater(BODY);
      Rig.until(() -> rig.inFlight() == 1);
      assertThat(rig.chat(BODY).statusCode()).as("more are refused").isEqualTo(503);
      assertThat(hanging).isNotDone();
    }
  }

  @Test
  void changesTimeLimitsAndRetries() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.forEach(backend ->
          backend.script = (request, body) -> request.response().setStatusCode(503).end());
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(503);
      assertThat(requests(rig)).as("both were tried").isEqualTo(2);
      rig.write(tree -> tree.set("retry.attempts", 1, "test"));
      rig.router.reload("test");
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(503);
      assertThat(requests(rig)).as("one more").isEqualTo(3);
      rig.backends.forEach(backend -> backend.script = (request, body) -> {});
      rig.write(tree -> tree.set("timeouts.total-ms", 200, "test").set("health.fall", 1, "test"));
      rig.router.reload("test");
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(504);
      rig.backends.get(0).health = 500;
      Rig.until(() -> rig.up() == 1);
    }
  }

  private static int requests(Rig rig) {
    return rig.backends.stream().mapToInt(backend -> backend.bodies.size()).sum();
  }

  @Test
  void saysWhatNeedsARestartAndLeavesIt() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.write(
          tree -> tree.set("tokenizing.queue", 9, "test").set("policy.name", "sticky", "test"));
      for (int i = 0; i < 2; i++) {
        HttpResponse<byte[]> answer = reload(rig);
        assertThat(answer.statusCode()).isEqualTo(200);
        JsonNode result = JSON.readTree(answer.body());
        assertThat(result.path("applied")).hasSize(i == 0 ? 1 : 0);
        assertThat(result.path("needsRestart").findValuesAsText("key"))
            .containsExactly("tokenizing.queue");
        assertThat(result.path("needsRestart").get(0).path("before").asText()).isEqualTo("256");
        assertThat(result.path("needsRestart").get(0).path("after").asText()).isEqualTo("9");
        assertThat(rig.router.dispatcher().policy().name()).isEqualTo("sticky");
      }
      assertThat(rig.metrics())
          .containsEntry("warmpath_tokenizer_queue_limit", 256.0)
          .containsEntry("warmpath_config_reloads_total{result=\"unchanged\"}", 1.0);
    }
  }

  @Test
  void changesNothingIfAnythingIsWrong() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.write(
          tree -> tree.set("policy.name", "sticky", "test").set("queue.timeout-ms", 0, "--set"));
      HttpResponse<byte[]> answer = reload(rig);
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(JSON.readTree(answer.body()).path("problems").get(0).asText())
          .isEqualTo("--set: 'queue.timeout-ms' must be a number in 1 … 86400000");
      assertThat(rig.router.dispatcher().policy().name()).isEqualTo("round-robin");
      rig.write(tree -> tree.set("index.expected-settle-ms", 40_000, "test"));
      assertThat(rig.router.reload("test").problems())
          .singleElement()
          .asString()
          .contains("'index.expected-ttl-ms' must be at least");
      assertThat(rig.metrics())
          .containsEntry("warmpath_config_reloads_total{result=\"refused\"}", 2.0);
    }
  }

  @Test
  void keepsWhatAPolicyRemembersUnlessItChanges() throws Exception {
    try (Rig rig = new Rig(1)) {
      var policy = rig.router.dispatcher().policy();
      rig.write(tree -> tree.set("retry.attempts", 2, "test"));
      rig.router.reload("test");
      assertThat(rig.router.dispatcher().policy()).isSameAs(policy);
    }
  }

  @Test
  void aRemovedReplicaFinishesItsRequests() throws Exception {
    try (Rig rig = new Rig(2)) {
      Backend slow = rig.backends.get(0);
      Queue<HttpServerResponse> held = new ConcurrentLinkedQueue<>();
      slow.script = (request, body) -> held.add(request.response());
      var answer = rig.chatLater(BODY);
      Rig.until(() -> !slow.bodies.isEmpty() || !rig.backends.get(1).bodies.isEmpty());
      if (slow.bodies.isEmpty()) {
        answer = rig.chatLater(BODY);
        Rig.until(() -> !slow.bodies.isEmpty());
      }
      String only = "replicas: [{name: r1, url: '" + rig.backends.get(1).url() + "'}]";
      rig.write(tree -> parsed("policy: {name: round-robin}\n" + only));
      ReloadResult result = rig.router.reload("test");
      assertThat(result.applied()).extracting(ConfigChange::key).contains("replicas[r0]");
      assertThat(rig.router.fleet().find("r0").orElseThrow().draining()).isTrue();
      Rig.until(() -> !held.isEmpty());
      held.remove().end("{}");
      assertThat(answer.get().statusCode()).isEqualTo(200);
      Rig.until(() -> rig.router.fleet().find("r0").isEmpty());
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void followsTheFileAndWhatItsLinkPointsTo(@TempDir Path folder) throws Exception {
    Path data = Files.createDirectories(folder.resolve("v1"));
    Files.writeString(data.resolve("w.yaml"), yaml("round-robin", ""));
    Path link = Files.createSymbolicLink(folder.resolve("..data"), data);
    Path file = Files.createSymbolicLink(folder.resolve("w.yaml"), Path.of("..data/w.yaml"));
    try (RouterProcess router = started(file)) {
      Path next = Files.createDirectories(folder.resolve("v2"));
      Files.writeString(
          next.resolve("w.yaml"),
          yaml("random", "replicas: [{name: a, url: 'http://127.0.0.1:1'}]"));
      Path swap = Files.createSymbolicLink(folder.resolve("..tmp"), next);
      Files.move(swap, link, StandardCopyOption.ATOMIC_MOVE);
      Rig.until(() -> router.dispatcher().policy().name().equals("random"));
      Rig.until(() -> router.fleet().find("a").isPresent());

      Files.writeString(next.resolve("w.yaml"), "policy: {name: nonsense}\n");
      Files.writeString(next.resolve("w.yaml"), yaml("sticky", ""));
      Rig.until(() -> router.dispatcher().policy().name().equals("sticky"));
      Rig.until(() -> router.fleet().replicas().stream().map(Replica::name).toList().isEmpty());
    }
  }

  /** Emptied, cut off and made a pipe, by turns, as long as it takes to be told; then restored. */
  @ParameterizedTest
  @ValueSource(
      strings = {"", " \n", "# nothing yet\n", "pipe", "replicas: [{name: a, ur", "\0\0\0"})
  void aFileWithoutContentChangesNothingAndIsFollowedOn(String content, @TempDir Path folder)
      throws Exception {
    Path file = Files.writeString(folder.resolve("w.yaml"), yaml("random", REPLICA));
    try (RouterProcess router = started(file)) {
      if (content.equals("pipe")) {
        Files.delete(file);
        assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor()).isZero();
      } else {
        Files.writeString(file, content);
      }
      Rig.until(() -> staleFiles(router).has(0));
      assertThat(staleFiles(router).get(0).path("file").asText()).isEqualTo("reload.watch");
      assertThat(router.fleet().find("a")).isPresent();
      Files.deleteIfExists(file);
      Files.writeString(file, yaml("sticky", REPLICA));
      Rig.until(() -> router.dispatcher().policy().name().equals("sticky"));
      Rig.until(() -> staleFiles(router).isEmpty());
      assertThat(router.fleet().find("a")).isPresent();
    }
  }

  @Test
  void aFileThatDoesNotNameItsWatchIsFollowedOnUntilItForbidsThat(@TempDir Path folder)
      throws Exception {
    Path file = Files.writeString(folder.resolve("w.yaml"), yaml("random", ""));
    try (RouterProcess router = started(file)) {
      Files.writeString(file, "{listen: {port: 0}, admin: {port: 0}, policy: {name: sticky}}");
      Rig.until(() -> router.dispatcher().policy().name().equals("sticky"));
      Files.writeString(file, yaml("round-robin", ""));
      Rig.until(() -> router.dispatcher().policy().name().equals("round-robin"));
      Files.writeString(file, yaml("random", "").replace("watch: true", "watch: false"));
      Rig.until(() -> router.dispatcher().policy().name().equals("random"));
      Files.writeString(file, yaml("sticky", ""));
      assertThat(router.reload("test").problems()).isEmpty(); // it is read when that is asked for
      assertThat(router.dispatcher().policy().name()).isEqualTo("sticky");
    }
  }

  /** A router with the flags of a command line, over a file. */
  private static RouterProcess started(Path file) throws ConfigException {
    ServeFlags flags = new ServeFlags();
    new CommandLine(flags).parseArgs("--config", file.toString(), "--set", "files.poll-ms=10");
    return RouterProcess.start(flags.config(), Environment.ofTheMachine().loading(flags));
  }

  private static JsonNode staleFiles(RouterProcess router) {
    try {
      URI uri = URI.create("http://127.0.0.1:" + router.adminPort() + "/admin/fleet");
      return JSON.readTree(uri.toURL().openStream()).path("staleFiles");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String yaml(String policy, String more) {
    return """
    listen: {port: 0}
    admin: {port: 0}
    reload: {watch: true}
    policy: {name: %s}
    %s
    """
        .formatted(policy, more);
  }

  private static ConfigTree parsed(String yaml) {
    try {
      return ConfigTree.parse(yaml, "test");
    } catch (ConfigException e) {
      throw new IllegalStateException(e);
    }
  }

  private static HttpResponse<byte[]> reload(Rig rig) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + rig.router.adminPort() + "/admin/reload");
    HttpResponse<byte[]> answer =
        rig.send(
            HttpRequest.newBuilder(uri)
                .timeout(Rig.PATIENCE)
                .POST(HttpRequest.BodyPublishers.noBody())
                .build());
    assertThat(new String(answer.body(), UTF_8)).startsWith("{");
    return answer;
  }
}
