package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A router that comes late, to an engine without a replay socket, asks it for what it holds. */
@Timeout(60)
class FullReportTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String OLD = prompt("What was warm before. ");

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
  void whatWasThereBeforeIsKnownOnceItIsAskedFor() throws Exception {
    post(engine.url() + "/v1/completions", OLD);
    try (RouterProcess router = router(60)) {
      joinedLate(router);
      int blocks = matchedTokens(router);
      while (blocks == 0) {
        complete(router, OLD);
        blocks = matchedTokens(router);
      }
      assertThat(blocks).isGreaterThan(100);
      assertThat(metrics(router)).containsPattern("what=\"reports_asked\"} [1-9]");
    }
  }

  @Test
  void nobodyIsAskedUnlessItIsConfigured() throws Exception {
    post(engine.url() + "/v1/completions", OLD);
    try (RouterProcess router = router(0)) {
      joinedLate(router);
      complete(router, OLD);
      complete(router, OLD);
      assertThat(matchedTokens(router)).isZero();
      assertThat(metrics(router)).contains("what=\"reports_asked\"} 0");
    }
  }

  /** The first batch that is heard is not the engine's first. */
  private static void joinedLate(RouterProcess router) throws Exception {
    String trust = "";
    for (int i = 0; !trust.equals("suspect"); i++) {
      complete(router, prompt(i + " something else. "));
      JsonNode engine = fleet(router).path("replicas").path(0).path("engines").path(0);
      trust = engine.path("events").required("trust").asText();
    }
  }

  private static void complete(RouterProcess router, String body) throws Exception {
    post("http://127.0.0.1:" + router.port() + "/v1/completions", body);
  }

  private static int matchedTokens(RouterProcess router) throws Exception {
    JsonNode page = post(admin(router) + "/admin/explain", OLD);
    return page.path("engines").path(0).required("matchedTokens").asInt();
  }

  private static JsonNode fleet(RouterProcess router) throws Exception {
    return JSON.readTree(read(admin(router) + "/admin/fleet"));
  }

  private static String metrics(RouterProcess router) throws Exception {
    return read(admin(router) + "/metrics");
  }

  private static String admin(RouterProcess router) {
    return "http://127.0.0.1:" + router.adminPort();
  }

  private static String read(String url) throws IOException, InterruptedException {
    return HTTP.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
        .body();
  }

  private static JsonNode post(String url, String body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> response = HTTP.send(request, BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JSON.readTree(response.body());
  }

  private static String prompt(String text) {
    return "{\"model\":\"sim\",\"max_tokens\":2,\"prompt\":\"" + text.repeat(40) + "\"}";
  }

  private RouterProcess router(int reports) throws Exception {
    RouterProcess router = RouterProcess.start(config(reports));
    while (post(admin(router) + "/admin/explain", OLD).path("engines").isEmpty()) {
      Thread.onSpinWait();
    }
    return router;
  }

  private RouterConfig config(int reports) throws ConfigException {
    return ConfigTree.empty()
        .set("listen.port", 0, "test")
        .set("admin.port", 0, "test")
        .set("snapshot.enabled", false, "test")
        .set("shutdown.deadline-ms", 2_000, "test")
        .put("models", Map.of("name", "sim", "tokenizer", "embedded"), "test")
        .put(
            "replicas",
            Map.of(
                "name",
                "e",
                "url",
                engine.url(),
                "events",
                engine.eventsEndpoint(),
                "full-reports-per-minute",
                (long) reports),
            "test")
        .config();
  }
}
