package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.router.Environment;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.simulator.TestRouters;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A router before simulated engines, over real sockets. Engines have a cache of 250 blocks of 16
 * tokens, which two of the numbered prompts fill, and what is behind it.
 */
final class LiveFleet implements AutoCloseable {

  /** Of each numbered prompt. */
  static final int TOKENS = 1_600;

  static final int BLOCKS = TOKENS / 16;

  /** Of a prompt that is held whole; the last block is always computed. */
  static final int CACHED = TOKENS - 16;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final LiveEngines launcher;
  private final List<LiveEngine> engines = new ArrayList<>();
  private RouterProcess router;

  LiveFleet() {
    ModelTokenizer tokenizer = opened(ModelTokenizer.embedded());
    launcher = opened(new LiveEngines(tokenizer));
  }

  /** Of 250 blocks of 16 tokens. */
  static KvCacheConfig cache() {
    return KvCacheConfig.fullAttention(16, 250);
  }

  private <T extends AutoCloseable> T opened(T one) {
    open.push(one);
    return one;
  }

  /**
   * Starts an engine.
   *
   * @param millisAToken to compute it
   */
  LiveEngine engine(KvCacheConfig cache, double millisAToken, KvTransferOptions... transfers) {
    EngineConfig config =
        new EngineConfig(cache, 2048, 16, 2_000, new StepCost(1, millisAToken, 0, 0));
    LiveEngineOptions options = LiveEngineOptions.of("sim", config).pace(10, 32);
    for (KvTransferOptions transfer : transfers) {
      options = options.with(transfer);
    }
    LiveEngine engine = opened(launcher.start(options));
    engines.add(engine);
    return engine;
  }

  /** A router's configuration, as yet without replicas. */
  static ConfigTree config() {
    return TestRouters.patientWithModel();
  }

  /** The entry of an engine that was started as this one, from 0. */
  Map<String, Object> replica(int number) {
    return TestRouters.replica("e" + number, engines.get(number));
  }

  /** Starts a router, and waits until its engines are up and their events exact. */
  RouterProcess start(RouterConfig config, Environment environment) {
    router = opened(RouterProcess.start(config, environment));
    until(() ->
        router.fleet().replicas().stream()
                .allMatch(replica -> replica.health() == Replica.Health.UP)
            && router.dispatcher().report().stream()
                .allMatch(report -> report.view().trust() == Trust.EXACT));
    return router;
  }

  static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  /** Asks for each of so many prompts; what was cached, of each. */
  List<Integer> round(int prompts, String more) {
    return IntStream.range(0, prompts).mapToObj(prompt -> cached(prompt, more)).toList();
  }

  /**
   * Asks for a completion of a numbered prompt.
   *
   * @param more members of the body, each behind a comma
   * @return the tokens that the engine reports as cached
   */
  int cached(int prompt, String more) {
    String ids =
        IntStream.range(0, TOKENS)
            .mapToObj(i -> Integer.toString(100 * (1 + prompt) + i % 7))
            .collect(Collectors.joining(","));
    String body = "{\"model\":\"sim\",\"prompt\":[" + ids + "],\"max_tokens\":1" + more + "}";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + router.port() + "/v1/completions"))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    return json(sent(request)).at("/usage/prompt_tokens_details/cached_tokens").asInt(-1);
  }

  /** What the admin port answers. */
  String get(String path) {
    URI uri = URI.create("http://127.0.0.1:" + router.adminPort() + path);
    return sent(HttpRequest.newBuilder(uri).build());
  }

  static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (IOException e) {
      throw new AssertionError(text, e);
    }
  }

  private static String sent(HttpRequest request) {
    try {
      return HTTP.send(request, BodyHandlers.ofString()).body();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(request.uri() + " has no answer", e);
    }
  }

  /** The sum of the series that begin so and name this; 0 if there is none. */
  double metric(String begin, String named) {
    return get("/metrics")
        .lines()
        .filter(line -> line.startsWith(begin) && line.contains(named))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** So many predictions had this result: exact, over or under. */
  double predictions(String result) {
    return metric("warmpath_predictions_total{", "result=\"" + result + "\"");
  }

  /**
   * So many tokens that slower memory holds had this result: loaded, pulled, computed or missed.
   */
  double slowTokens(String result) {
    return metric("warmpath_slow_tier_tokens_total{", "result=\"" + result + "\"");
  }

  /** The router first, then its engines. */
  @Override
  public void close() {
    for (AutoCloseable each : open) {
      try {
        each.close();
      } catch (Exception e) {
        throw new IllegalStateException("not closed: " + each, e);
      }
    }
  }
}
