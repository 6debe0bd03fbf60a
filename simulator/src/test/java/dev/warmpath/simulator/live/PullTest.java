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
import dev.warmpath.simulator.live.KvTransferOptions.Role;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A router before engines that can have what others hold in host memory, over real sockets. */
@Timeout(120)
class PullTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final int TOKENS = 1_600;
  private static final int CACHED = TOKENS - 16;
  private static final int PROMPTS = 9; // odd: each round takes the other engine

  private final List<AutoCloseable> open = new ArrayList<>();
  private final List<LiveEngine> engines = new ArrayList<>();
  private RouterProcess router;

  @BeforeEach
  void startEngines() {
    ModelTokenizer tokenizer = ModelTokenizer.embedded();
    open.add(0, tokenizer);
    LiveEngines launcher = new LiveEngines(tokenizer);
    open.add(0, launcher);
    EngineConfig config =
        new EngineConfig(
            KvCacheConfig.fullAttention(16, 250).withHost(4_000),
            2048,
            16,
            2_000,
            new StepCost(1, 0.5, 0, 0));
    KvTransferOptions offloading = KvTransferOptions.of(KvConnector.OFFLOADING, Role.BOTH);
    for (int i = 0; i < 2; i++) {
      LiveEngine live =
          launcher.start(LiveEngineOptions.of("sim", config).pace(10, 32).with(offloading));
      open.add(0, live);
      engines.add(live);
    }
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private void startRouter(int... kvPorts) throws Exception {
    ConfigTree tree =
        ConfigTree.empty()
            .set("listen.port", 0, "test")
            .set("admin.port", 0, "test")
            .set("policy.name", "round-robin", "test")
            .set("policy.split", "never", "test")
            .set("policy.load-back", "always", "test")
            .set("policy.pull", true, "test")
            .set("tokenizing.deadline-ms", 60_000, "test")
            .put("models", Map.of("name", "sim", "tokenizer", "embedded"), "test");
    for (int i = 0; i < engines.size(); i++) {
      LiveEngine live = engines.get(i);
      Map<String, Object> replica = new LinkedHashMap<>();
      replica.put("name", "e" + i);
      replica.put("url", live.url());
      replica.put("events", live.eventsEndpoint());
      replica.put("replay", live.replayEndpoint());
      replica.put("kv-connector", "offloading");
      replica.put("kv-port", (long) kvPorts[i]);
      tree = tree.put("replicas", replica, "test");
    }
    router = RouterProcess.start(tree.config());
    open.add(0, router);
    until(() ->
        router.fleet().replicas().stream()
                .allMatch(replica -> replica.health() == Replica.Health.UP)
            && router.dispatcher().report().stream()
                .allMatch(report -> report.view().trust() == Trust.EXACT));
  }

  private static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  /** Asks the router for each of the prompts; what was cached, of each. */
  private List<Integer> round(String more) throws Exception {
    List<Integer> cached = new ArrayList<>();
    for (int prompt = 0; prompt < PROMPTS; prompt++) {
      int id = 100 * (1 + prompt);
      String ids =
          IntStream.range(0, TOKENS)
              .mapToObj(i -> Integer.toString(id + i % 7))
              .collect(Collectors.joining(","));
      String body = "{\"model\":\"sim\",\"prompt\":[" + ids + "],\"max_tokens\":1" + more + "}";
      HttpRequest request =
          HttpRequest.newBuilder(
                  URI.create("http://127.0.0.1:" + router.port() + "/v1/completions"))
              .header("content-type", "application/json")
              .POST(BodyPublishers.ofString(body))
              .build();
      JsonNode answer = JSON.readTree(HTTP.send(request, BodyHandlers.ofString()).body());
      cached.add(
          answer.path("usage").path("prompt_tokens_details").path("cached_tokens").asInt(-1));
    }
    return cached;
  }

  /** Predictions, and tokens of slower memory, by result; of both engines together. */
  private Map<String, Double> counted() throws Exception {
    HttpRequest scrape =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + router.adminPort() + "/metrics"))
            .build();
    Map<String, Double> found = new HashMap<>();
    for (String line : HTTP.send(scrape, BodyHandlers.ofString()).body().split("\n")) {
      if (line.startsWith("warmpath_predictions_total{")
          || line.startsWith("warmpath_slow_tier_tokens_total{")) {
        String result = line.replaceAll(".*result=\"([a-z]+)\".*", "$1");
        double value = Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
        found.merge(result, value, Double::sum);
      }
    }
    return found;
  }

  private int kvPort(int engine) {
    return engines.get(engine).ports().http();
  }

  @Test
  void eachEngineGetsWhatTheOtherHolds() throws Exception {
    startRouter(kvPort(0), kvPort(1));
    assertThat(round("")).containsOnly(0);
    assertThat(round("")).containsOnly(CACHED);
    assertThat(counted()).containsEntry("pulled", 1.0 * PROMPTS * CACHED);
    assertThat(round("")).as("by now both hold all").containsOnly(CACHED);
    assertThat(counted())
        .containsEntry("pulled", 1.0 * PROMPTS * CACHED)
        .containsEntry("exact", 3.0 * PROMPTS)
        .doesNotContainKeys("over", "under");
    assertThat(counted().getOrDefault("missed", 0.0)).isZero();
  }

  @Test
  void whomAClientNamesIsNotAsked() throws Exception {
    startRouter(kvPort(0), kvPort(1));
    assertThat(round("")).containsOnly(0);
    router.dispatcher().pulls(false);
    String own =
        ",\"kv_transfer_params\":{\"remote_kv_source\":{\"kv_request_id\":\"x\","
            + "\"remote_host\":\"127.0.0.1\",\"remote_port\":%d}}";
    assertThat(round(own.formatted(kvPort(0)))).containsOnly(0);
    assertThat(counted()).doesNotContainKey("pulled");
  }

  @Test
  void whoCannotBeReachedIsNotAskedForLong() throws Exception {
    startRouter(1, 1); // nobody listens there
    assertThat(round("")).containsOnly(0);
    assertThat(round("")).as("they compute instead").containsOnly(0);
    Map<String, Double> counted = counted();
    assertThat(counted)
        .as("three times at each")
        .containsEntry("pulled", 6.0 * CACHED)
        .containsEntry("missed", 6.0 * CACHED)
        .containsEntry("over", 6.0);
    assertThat(round("")).containsOnly(CACHED);
    assertThat(counted()).containsEntry("pulled", 6.0 * CACHED).containsEntry("over", 6.0);
    assertThat(router.dispatcher().report())
        .as("their indexes are not doubted for that")
        .allMatch(report -> report.view().trust() == Trust.EXACT);
  }
}
