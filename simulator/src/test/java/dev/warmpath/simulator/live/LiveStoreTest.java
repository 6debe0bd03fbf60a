package dev.warmpath.simulator.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.router.Environment;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.reload.ConfigChange;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A router before two engines that share a store, over real sockets. */
@Timeout(30)
final class LiveStoreTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final int TOKENS = 1_600;
  private static final int CACHED = TOKENS - 16;
  private static final int BLOCKS = TOKENS / 16;
  private static final int PROMPTS = 9; // odd: each round takes the other engine

  private final List<AutoCloseable> open = new ArrayList<>();
  private LiveStore store;
  private RouterProcess router;
  private ConfigTree without;
  private volatile ConfigTree written;

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private void start(int storeBlocks, boolean publishes) throws Exception {
    start(new LiveStore(storeBlocks), publishes);
  }

  private void start(LiveStore shared, boolean publishes) throws Exception {
    store = shared;
    open.add(0, store);
    ModelTokenizer tokenizer = ModelTokenizer.embedded();
    open.add(0, tokenizer);
    LiveEngines launcher = new LiveEngines(tokenizer);
    open.add(0, launcher);
    EngineConfig config =
        new EngineConfig(
            KvCacheConfig.fullAttention(16, 250).with(store.blocks()),
            2048,
            16,
            2_000,
            new StepCost(1, 0.5, 0, 0));
    ConfigTree tree =
        ConfigTree.empty()
            .set("listen.port", 0, "test")
            .set("admin.port", 0, "test")
            .set("policy.name", "round-robin", "test")
            .set("tokenizing.deadline-ms", 60_000, "test")
            .put("models", Map.of("name", "sim", "tokenizer", "embedded"), "test");
    for (int i = 0; i < 2; i++) {
      LiveEngine live = launcher.start(LiveEngineOptions.of("sim", config).pace(10, 32));
      open.add(0, live);
      Map<String, Object> replica = new LinkedHashMap<>();
      replica.put("name", "e" + i);
      replica.put("url", live.url());
      replica.put("events", live.eventsEndpoint());
      replica.put("replay", live.replayEndpoint());
      replica.put("kv-connector", "store");
      tree = tree.set("policy.split", "never", "test").put("replicas", replica, "test");
    }
    without = tree;
    written = tree.put("stores", entry(publishes, List.of()), "test");
    Environment environment =
        Environment.ofTheMachine().loading((running, content) -> written.config());
    router = RouterProcess.start(written.config(), environment);
    open.add(0, router);
    until(() ->
        router.fleet().replicas().stream()
                .allMatch(replica -> replica.health() == Replica.Health.UP)
            && router.dispatcher().report().stream()
                .allMatch(report -> report.view().trust() == Trust.EXACT));
    if (publishes) {
      until(() -> metric("warmpath_event_trust{", "store:pool\",trust=\"none") == 1);
    }
  }

  private Map<String, Object> entry(boolean publishes, List<String> readers) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("name", "pool");
    if (publishes) {
      entry.put("events", store.eventsEndpoint());
    }
    entry.put("replicas", readers);
    return entry;
  }

  /** The only store, as the fleet's report has it. */
  private JsonNode reported() {
    try {
      return JSON.readTree(get("/admin/fleet")).path("stores").path(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  /** Asks the router for each of the prompts; what was cached, of each. */
  private List<Integer> round() throws Exception {
    List<Integer> cached = new ArrayList<>();
    for (int prompt = 0; prompt < PROMPTS; prompt++) {
      int id = 100 * (1 + prompt);
      String ids =
          IntStream.range(0, TOKENS)
              .mapToObj(i -> Integer.toString(id + i % 7))
              .collect(Collectors.joining(","));
      String body = "{\"model\":\"sim\",\"prompt\":[" + ids + "],\"max_tokens\":1}";
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

  private String get(String path) {
    URI uri = URI.create("http://127.0.0.1:" + router.adminPort() + path);
    try {
      return HTTP.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** The sum of the series that begin so and name this. */
  private double metric(String begin, String named) {
    return get("/metrics")
        .lines()
        .filter(line -> line.startsWith(begin) && line.contains(named))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** Predictions by result. */
  private Map<String, Double> predictions() {
    Map<String, Double> found = new HashMap<>();
    for (String result : List.of("exact", "over", "under")) {
      found.put(result, metric("warmpath_predictions_total{", "result=\"" + result + "\""));
    }
    return found;
  }

  private double tokens(String result) {
    return metric("warmpath_store_tokens_total{", "result=\"" + result + "\"");
  }

  private void untilStoreHolds(int blocks) {
    until(() -> metric("warmpath_store_blocks{", "pool") == blocks);
  }

  @Test
  void whatOneEngineComputedTheOtherLoads() throws Exception {
    start(4_000, true);
    assertThat(round()).containsOnly(0);
    untilStoreHolds(PROMPTS * BLOCKS);
    assertThat(round()).containsOnly(CACHED);
    assertThat(round()).containsOnly(CACHED);
    assertThat(predictions()).containsEntry("exact", 3.0 * PROMPTS);
    assertThat(tokens("held")).isEqualTo(tokens("served")).isEqualTo(tokens("credited"));
    assertThat(tokens("held")).isGreaterThanOrEqualTo(1.0 * PROMPTS * CACHED);
    assertThat(metric("warmpath_slow_tier_tokens_total{", "loaded")).isEqualTo(tokens("held"));
    assertThat(metric("warmpath_store_names_total{", "nameless")).isZero();
  }

  @Test
  void whatItDropsIsCreditedNoMore() throws Exception {
    start(4_000, true);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    store.shrink(450);
    untilStoreHolds(450);
    List<Integer> cached = round();
    assertThat(cached).contains(CACHED).anyMatch(tokens -> tokens < CACHED);
    assertThat(predictions()).containsEntry("over", 0.0).containsEntry("under", 0.0);
  }

  /** One that shares it resets it, say. */
  @Test
  void whatItDropsQuietlyIsMissedOnce() throws Exception {
    start(4_000, true);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    store.shrink(450);
    untilStoreHolds(450);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    store.loseQuietly();
    round();
    double over = predictions().get("over");
    until(() -> store.blocks().size() == PROMPTS * BLOCKS);
    untilStoreHolds(PROMPTS * BLOCKS);
    assertThat(round()).containsOnly(CACHED);
    assertThat(over).isBetween(1.0, 1.0 * PROMPTS);
    assertThat(predictions()).containsEntry("over", over);
  }

  @Test
  void anotherMasterHoldsNothing() throws Exception {
    start(4_000, true);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    store.restart();
    untilStoreHolds(0);
    until(() -> metric("warmpath_event_trust{", "store:pool\",trust=\"exact") == 1);
    assertThat(round()).containsOnly(0);
    untilStoreHolds(PROMPTS * BLOCKS);
    assertThat(round()).containsOnly(CACHED);
    assertThat(predictions()).containsEntry("exact", 3.0 * PROMPTS);
  }

  @Test
  void storesComeChangeAndGoByAReload() throws Exception {
    start(4_000, true);
    assertThat(round()).containsOnly(0);
    untilStoreHolds(PROMPTS * BLOCKS);
    assertThat(reported().path("readers")).hasToString("[\"e0\",\"e1\"]");
    assertThat(reported().path("trust").asText()).isEqualTo("exact");
    double known = metric("warmpath_index_blocks{", "engine=\"e");

    written = without.put("stores", entry(true, List.of("e0")), "test");
    assertThat(router.reload("test").applied())
        .extracting(ConfigChange::key)
        .containsExactly("stores[pool].replicas");
    assertThat(reported().path("readers")).hasToString("[\"e0\"]");
    assertThat(reported().path("blocks").asInt()).isEqualTo(PROMPTS * BLOCKS);
    assertThat(metric("warmpath_index_blocks{", "engine=\"e")).isEqualTo(known);

    written = without;
    assertThat(router.reload("test").problems()).isEmpty();
    assertThat(reported().isMissingNode()).isTrue();
    assertThat(get("/metrics")).doesNotContain("store=\"pool").doesNotContain("store:pool");
    assertThat(metric("warmpath_index_blocks{", "engine=\"e")).isEqualTo(known);
    assertThat(round()).as("the engines load as they did").containsOnly(CACHED);

    written = without.put("stores", entry(true, List.of()), "test");
    assertThat(router.reload("test").problems()).isEmpty();
    until(() -> reported().path("reason").asText().startsWith("nothing heard"));
    store.shrink(0);
    until(() -> metric("warmpath_event_stream_total{", "pool\",event=\"blocks_removed") == 900);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    double over = predictions().get("over");
    assertThat(round()).containsOnly(CACHED);
    assertThat(predictions()).containsEntry("over", over);
    assertThat(reported().path("readers")).hasSize(2);
  }

  /** The same store by another name of its host, and by its model. */
  @Test
  void oneThatIsNamedOtherwiseIsReadAnew() throws Exception {
    start(4_000, true);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    Map<String, Object> moved = entry(true, List.of());
    moved.put("events", store.eventsEndpoint().replace("127.0.0.1", "localhost"));
    moved.put("model", "sim");
    for (Map<String, Object> now : List.of(moved, entry(true, List.of()))) {
      written = without.put("stores", now, "test");
      assertThat(router.reload("test").problems()).isEmpty();
      until(() -> reported().path("reason").asText().startsWith("nothing heard"));
      assertThat(reported().path("blocks").asInt()).isZero();
      double removed = metric("warmpath_event_stream_total{", "pool\",event=\"blocks_removed");
      store.shrink(0);
      until(
          () -> metric("warmpath_event_stream_total{", "pool\",event=\"blocks_removed") > removed);
      round();
      untilStoreHolds(PROMPTS * BLOCKS);
      double held = tokens("held");
      double over = predictions().get("over");
      assertThat(round()).containsOnly(CACHED);
      assertThat(tokens("held")).as("it is read").isGreaterThan(held);
      assertThat(predictions()).containsEntry("over", over);
    }
  }

  /** Its files are deleted by somebody else, say. */
  @Test
  void oneThatNeverPublishesARemovalIsTrustedByAge() throws Exception {
    start(new LiveStore(3 * BLOCKS, false), true);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    for (int i = 0; i < 4; i++) {
      assertThat(round()).containsOnly(0);
    }
    double held = tokens("held");
    double credited = tokens("credited");
    round();
    assertThat(tokens("held") - held).isGreaterThanOrEqualTo(7.0 * CACHED);
    assertThat(tokens("credited") - credited).isLessThan(0.2 * (tokens("held") - held));
    assertThat(predictions().get("over")).isLessThanOrEqualTo(3);
  }

  /** Its readers tell what it holds; that much is there, so it is counted on. */
  @Test
  void withoutEventsOfItsOwnItIsTrustedByAge() throws Exception {
    start(4_000, false);
    assertThat(round()).containsOnly(0);
    untilStoreHolds(PROMPTS * BLOCKS);
    for (int i = 0; i < 6; i++) {
      assertThat(round()).containsOnly(CACHED);
    }
    assertThat(predictions())
        .as("nobody can say for certain")
        .containsEntry("over", 0.0)
        .containsEntry("under", 0.0);
    assertThat(tokens("served")).isEqualTo(tokens("held"));
    assertThat(tokens("credited")).isBetween(0.75 * tokens("served"), tokens("served"));
  }

  /** It holds three of nine prompts, so none is left when its turn comes again; nobody hears it. */
  @Test
  void whatItDropsUnheardCostsTrust() throws Exception {
    start(3 * BLOCKS, false);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    for (int i = 0; i < 4; i++) {
      assertThat(round()).containsOnly(0);
    }
    double held = tokens("held");
    double credited = tokens("credited");
    round();
    assertThat(tokens("held") - held).isGreaterThanOrEqualTo(7.0 * CACHED);
    assertThat(tokens("credited") - credited).isLessThan(0.2 * (tokens("held") - held));
    assertThat(tokens("served")).isZero();
    assertThat(credited).as("in five rounds").isLessThan(0.4 * held);
  }
}
