package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.demo.Demo.DemoFleet;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three engines and the router on real sockets; one engine dies in the middle and comes back. */
@Timeout(300)
class FleetFailureTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final int CLIENTS = 9;
  private static final String OLD =
      "{\"model\":\"sim\",\"max_tokens\":2,\"prompt\":\""
          + "What was warm before. ".repeat(40)
          + "\"}";

  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private DemoFleet fleet;

  @BeforeEach
  void start() throws InterruptedException {
    EngineConfig config =
        new EngineConfig(
            KvCacheConfig.fullAttention(16, 1200), 2048, 32, 8192, new StepCost(8, 0.02, 0, 0));
    fleet = new DemoFleet(tokenizer, LiveEngineOptions.of("sim", config), 3, "round-robin");
    fleet.awaitReady();
  }

  @AfterEach
  void stop() {
    fleet.close();
    tokenizer.close();
  }

  @Test
  void nothingHangsAndNothingOfTheDeadLifetimeIsCredited() throws Exception {
    for (int i = 0; i < 3; i++) {
      assertThat(post(fleet.url() + "/v1/completions", OLD).path("usage").isObject()).isTrue();
    }
    awaitCredits(Map.of("engine-0", true, "engine-1", true, "engine-2", true));
    LiveEngine victim = fleet.engines().get(1);

    LoadReport report =
        new LoadRun(
                new ChatLoad("sim", 150, CLIENTS, 5, 3, 60, 30, 24, 7),
                new ChatClient(fleet.url(), Duration.ofSeconds(60), System::nanoTime),
                CLIENTS,
                done -> strike(victim, done))
            .run();

    assertThat(report.requests()).isEqualTo(150);
    assertThat(report.errors()).isLessThanOrEqualTo(CLIENTS);
    assertThat(report.prediction().over()).isZero();
    fleet.awaitReady();
    awaitCredits(Map.of("engine-0", true, "engine-1", false, "engine-2", true));
    assertThat(fleet.router().serving()).isZero();
    for (JsonNode replica : fleet.fleetPage().path("replicas")) {
      JsonNode engine = replica.path("engines").path(0);
      assertThat(engine.path("requestsInFlight").asInt(-1)).as(engine.toString()).isZero();
      assertThat(engine.path("queuedPrefillTokens").asInt(-1)).isZero();
    }
    for (LiveEngine engine : fleet.engines()) {
      while (engine.load().running() + engine.load().waiting() > 0) {
        Thread.onSpinWait();
      }
    }
  }

  private static void strike(LiveEngine victim, int done) {
    if (done == 40) {
      victim.kill();
    } else if (done == 80) {
      victim.restart();
    }
  }

  /** Polls until the index shows the old prompt on just these engines, whatever their trust. */
  private void awaitCredits(Map<String, Boolean> expected) throws Exception {
    Map<String, Boolean> credited = new HashMap<>();
    while (!credited.equals(expected)) {
      credited.clear();
      JsonNode engines = post(fleet.adminUrl() + "/admin/explain", OLD).path("engines");
      for (JsonNode engine : engines) {
        credited.put(
            engine.path("engine").asText().replaceAll("/.*", ""),
            engine.required("matchedTokens").asInt() > 0);
      }
    }
  }

  private static JsonNode post(String url, String body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    return JSON.readTree(HTTP.send(request, BodyHandlers.ofString()).body());
  }
}
