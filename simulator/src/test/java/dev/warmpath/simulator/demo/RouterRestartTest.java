package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.engine.cache.KvCacheConfig;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.simulator.load.FleetPage;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A router ends and another begins, in front of engines that go on or do not. */
@Timeout(120)
class RouterRestartTest {

  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String PROMPT =
      "{\"model\":\"sim\",\"max_tokens\":2,\"prompt\":\"" + "What was warm. ".repeat(40) + "\"}";

  @TempDir private Path dir;

  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private final LiveEngines launcher = new LiveEngines(tokenizer);
  private final LiveEngine engine =
      launcher.start(
          LiveEngineOptions.of(
              "sim",
              new EngineConfig(
                  KvCacheConfig.fullAttention(16, 1200),
                  2048,
                  32,
                  8192,
                  new StepCost(2, 0.01, 0, 0))));

  @AfterEach
  void stop() {
    launcher.close();
    tokenizer.close();
  }

  @Test
  void engineThatGoesOnIsKnownAgainWithoutItsHistory() throws Exception {
    int warm = warmUp();
    assertThat(warm).isPositive();

    try (RouterProcess second = router()) {
      assertThat(metrics(second))
          .contains("warmpath_recovery_engines{fate=\"kept\"} 1.0")
          .contains("warmpath_recovery_share 1.0");
      assertThat(predicted(second)).isEqualTo(warm);
      assertThat(metrics(second)).contains("what=\"restarts\"} 0.0");
    }
  }

  @Test
  void engineThatWasStartedAnewMeanwhileIsLearnedAnew() throws Exception {
    assertThat(warmUp()).isPositive();
    engine.kill();
    engine.restart();

    try (RouterProcess second = router()) {
      assertThat(metrics(second))
          .contains("warmpath_recovery_engines{fate=\"other_lifetime\"} 1.0")
          .contains("warmpath_recovery_share 0.0");
      assertThat(predicted(second)).as("nothing of the old lifetime is credited").isZero();
    }
  }

  /** Tokens that a first router predicts for a prompt that it has sent before. */
  private int warmUp() throws Exception {
    try (RouterProcess first = router()) {
      assertThat(predicted(first)).isZero();
      int predicted = 0;
      while (predicted == 0) {
        predicted = predicted(first);
      }
      return predicted;
    }
  }

  private RouterProcess router() throws InterruptedException {
    RouterProcess router = RouterProcess.start(config());
    FleetPage page = new FleetPage("http://127.0.0.1:" + router.adminPort());
    assertThat(page.awaitReady(Duration.ofSeconds(20))).isTrue();
    return router;
  }

  private static int predicted(RouterProcess router) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + router.port() + "/v1/completions"))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(PROMPT))
            .build();
    HttpResponse<String> response = HTTP.send(request, BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    return Integer.parseInt(response.headers().firstValue("x-warmpath-cached-tokens").orElse("0"));
  }

  private static String metrics(RouterProcess router) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + router.adminPort() + "/metrics");
    return HTTP.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
  }

  private RouterConfig config() {
    try {
      return ConfigTree.empty()
          .set("listen.port", 0, "test")
          .set("admin.port", 0, "test")
          .set("snapshot.dir", dir.toString(), "test")
          .set("shutdown.deadline-ms", 2_000, "test")
          .put("models", Map.of("name", "sim", "tokenizer", "embedded"), "test")
          .put(
              "replicas",
              Map.of(
                  "name", "e",
                  "url", engine.url(),
                  "events", engine.eventsEndpoint(),
                  "replay", engine.replayEndpoint()),
              "test")
          .config();
    } catch (ConfigException e) {
      throw new IllegalStateException(e);
    }
  }
}
