package dev.warmpath.simulator.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A router before an engine with a host tier, over real sockets. */
@Timeout(120)
class SlowTierTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final int TOKENS = 1_600;
  private static final int PROMPTS = 6; // of which the GPU holds two

  private static int cached(String url, int prompt, String more) throws Exception {
    String ids =
        IntStream.range(0, TOKENS)
            .mapToObj(i -> Integer.toString(100 * (1 + prompt) + i % 7))
            .collect(Collectors.joining(","));
    String body = "{\"model\":\"sim\",\"prompt\":[" + ids + "],\"max_tokens\":1" + more + "}";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + "/v1/completions"))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    JsonNode answer = JSON.readTree(HTTP.send(request, BodyHandlers.ofString()).body());
    return answer.path("usage").path("prompt_tokens_details").path("cached_tokens").asInt(-1);
  }

  private static Map<String, Double> counted(RouterProcess router) throws Exception {
    HttpRequest scrape =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + router.adminPort() + "/metrics"))
            .build();
    Map<String, Double> found = new HashMap<>();
    for (String line : HTTP.send(scrape, BodyHandlers.ofString()).body().split("\n")) {
      if (line.startsWith("warmpath_predictions_total{")
          || line.startsWith("warmpath_slow_tier_tokens_total{")) {
        String result = line.replaceAll(".*result=\"([a-z]+)\".*", "$1");
        found.put(result, Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)));
      }
    }
    return found;
  }

  private static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"always", "never", "cheapest"})
  void whatItReportsIsWhatTheRouterDecided(String rule) throws Exception {
    EngineConfig engine =
        new EngineConfig(
            KvCacheConfig.fullAttention(16, 250).withHost(4_000),
            2048,
            16,
            2_000,
            new StepCost(1, 0.01, 0, 0));
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded();
        LiveEngines launcher = new LiveEngines(tokenizer);
        LiveEngine live = launcher.start(LiveEngineOptions.of("sim", engine).pace(10, 32));
        RouterProcess router =
            RouterProcess.start(
                ConfigTree.empty()
                    .set("listen.port", 0, "test")
                    .set("admin.port", 0, "test")
                    .set("policy.load-back", rule, "test")
                    .set("tokenizing.deadline-ms", 60_000, "test")
                    .put("models", Map.of("name", "sim", "tokenizer", "embedded"), "test")
                    .put(
                        "replicas",
                        Map.of(
                            "name", "e",
                            "url", live.url(),
                            "events", live.eventsEndpoint(),
                            "replay", live.replayEndpoint()),
                        "test")
                    .config())) {
      until(() ->
          router.fleet().replicas().get(0).health() == Replica.Health.UP
              && router.dispatcher().report().get(0).view().trust() == Trust.EXACT);
      String url = "http://127.0.0.1:" + router.port();
      int reported = 0;
      for (int round = 0; round < 3; round++) {
        for (int prompt = 0; prompt < PROMPTS; prompt++) {
          reported += cached(url, prompt, "");
        }
      }
      Map<String, Double> counted = counted(router);
      assertThat(counted).containsEntry("exact", 3.0 * PROMPTS);
      assertThat(counted).doesNotContainKeys("over", "under");
      double computed = counted.getOrDefault("computed", 0.0);
      double loaded = counted.getOrDefault("loaded", 0.0);
      assertThat(loaded + computed).isEqualTo(2.0 * PROMPTS * (TOKENS - 16));
      assertThat(reported).isEqualTo((int) loaded);
      switch (rule) {
        case "always" -> assertThat(computed).isZero();
        case "never" -> assertThat(loaded).isEqualTo(TOKENS - 16); // the first that shows a tier
        default -> assertThat(loaded).isPositive();
      }

      // a client that says itself how much is loaded is not overruled, nor judged
      assertThat(cached(url, 0, ",\"kv_transfer_params\":{\"max_load_tokens\":160}"))
          .isEqualTo(160);
      assertThat(counted(router)).containsEntry("exact", 3.0 * PROMPTS);
      assertThat(counted(router)).doesNotContainKeys("over", "under");
    }
  }
}
