package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.lab.chaos.DayReport.Scene;
import dev.warmpath.router.Environment;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.simulator.demo.FleetPage;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
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
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Random;

/**
 * The wall clock is set forward and back while a router in this process follows a simulated engine:
 * no prediction may promise more than the engine reports, and when the same prompts come again,
 * each must be exact.
 */
final class ClockSteps {

  private static final Duration READY_LIMIT = Duration.ofSeconds(30);
  private static final Duration[] STEPS = {
    Duration.ofHours(1), Duration.ofHours(-2), Duration.ofDays(365), Duration.ofDays(-730)
  };
  private static final int REPEATS = 5;
  private static final String ORIGIN = "chaos";
  private static final ObjectMapper JSON = new ObjectMapper();

  private ClockSteps() {}

  static void play(Scene scene) throws IOException, InterruptedException {
    SteppedClock clock = new SteppedClock();
    EngineConfig engine =
        new EngineConfig(
            KvCacheConfig.fullAttention(16, 4_096), 2_048, 4, 8_192, new StepCost(2, 0, 0, 0));
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded();
        LiveEngines launcher = new LiveEngines(tokenizer)) {
      LiveEngine live = launcher.start(LiveEngineOptions.of("m", engine));
      Environment environment = new Environment(clock, System::nanoTime, new Random(1), null);
      try (RouterProcess router = RouterProcess.start(config(live), environment)) {
        FleetPage page = new FleetPage("http://127.0.0.1:" + router.adminPort());
        scene.check(page.awaitReady(READY_LIMIT), "the fleet is not ready: " + page.read());
        ask(scene, router.port(), "Begin. ", false);
        for (Duration step : STEPS) {
          clock.step(step);
          for (int i = 0; i < REPEATS; i++) {
            boolean isKnown = i == REPEATS - 1;
            ask(scene, router.port(), "Begin. ", isKnown);
            ask(scene, router.port(), "Step " + step + ". ", isKnown);
          }
          JsonNode events =
              page.read().path("replicas").path(0).path("engines").path(0).path("events");
          scene.check(
              events.path("trust").asText().equals("exact"),
              "after a step of %s trust is %s (%s)"
                  .formatted(step, events.path("trust").asText(), events.path("reason").asText()));
        }
      }
    }
  }

  /**
   * Sends a prompt.
   *
   * @param isKnown whether it was sent so often that the events of its blocks have arrived, which
   *     come right behind an answer
   */
  private static void ask(Scene scene, int port, String begin, boolean isKnown)
      throws IOException, InterruptedException {
    String prompt = begin.repeat(100) + "How late is it?";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
            .header("content-type", "application/json")
            .POST(
                BodyPublishers.ofString(
                    "{\"model\":\"m\",\"max_tokens\":1,\"prompt\":\"%s\"}".formatted(prompt)))
            .build();
    HttpResponse<String> answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      scene.fail("status " + answer.statusCode());
      return;
    }
    int cached =
        JSON.readTree(answer.body())
            .path("usage")
            .path("prompt_tokens_details")
            .path("cached_tokens")
            .asInt();
    int predicted =
        answer.headers().firstValue("x-warmpath-cached-tokens").map(Integer::valueOf).orElse(-1);
    if (predicted < 0 || predicted > cached || (isKnown && (predicted != cached || cached == 0))) {
      scene.fail("%d tokens predicted, %d cached".formatted(predicted, cached));
    } else {
      scene.answered();
    }
  }

  private static RouterConfig config(LiveEngine engine) {
    try {
      return ConfigTree.empty()
          .put("models", Map.of("name", "m", "tokenizer", "embedded"), ORIGIN)
          .put(
              "replicas",
              Map.of(
                  "name",
                  "clock",
                  "url",
                  engine.url(),
                  "events",
                  engine.eventsEndpoint(),
                  "replay",
                  engine.replayEndpoint()),
              ORIGIN)
          .set("listen.port", 0, ORIGIN)
          .set("admin.port", 0, ORIGIN)
          .set("snapshot.enabled", false, ORIGIN)
          .set("headers.cached-tokens", true, ORIGIN)
          .config();
    } catch (ConfigException e) {
      throw new IllegalStateException("the configuration of the clock's scene", e);
    }
  }

  /** The machine's wall clock, and what it was set forward or back by. */
  private static final class SteppedClock extends Clock {
    private volatile Duration offset = Duration.ZERO;

    void step(Duration by) {
      offset = offset.plus(by);
    }

    @Override
    public Instant instant() {
      return Instant.now().plus(offset);
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      throw new UnsupportedOperationException();
    }
  }
}
