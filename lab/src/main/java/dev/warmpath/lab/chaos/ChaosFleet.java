package dev.warmpath.lab.chaos;

import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.simulator.demo.FleetPage;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Engines that can fail, a router with narrow limits in front of them, and an engine of which the
 * router knows nothing, that tells the right answers.
 *
 * <p>Thread-safe.
 */
final class ChaosFleet implements AutoCloseable {

  private static final String ORIGIN = "chaos";
  private static final Duration READY_LIMIT = Duration.ofSeconds(20);
  private static final double REFERENCE_SPEED = 100_000;

  private final LiveEngines launcher;
  private final LiveEngine reference;
  private final List<ChaosEngine> engines = new ArrayList<>();
  private final RouterConfig config;
  private final RouterProcess router;

  ChaosFleet(ModelTokenizer tokenizer, ChaosPlan plan) {
    launcher = new LiveEngines(tokenizer);
    try {
      LiveEngineOptions options = plan.engine();
      reference = launcher.start(options.pace(REFERENCE_SPEED, options.answerTokens()));
      for (int i = 0; i < ChaosPlan.ENGINES; i++) {
        engines.add(new ChaosEngine("engine-" + i, launcher.start(options)));
      }
      config = config();
      router = RouterProcess.start(config);
    } catch (RuntimeException e) {
      launcher.close();
      throw e;
    }
  }

  List<ChaosEngine> engines() {
    return List.copyOf(engines);
  }

  String referenceUrl() {
    return reference.url();
  }

  RouterProcess router() {
    return router;
  }

  void awaitReady() throws InterruptedException {
    FleetPage page = new FleetPage("http://127.0.0.1:" + router.adminPort());
    if (!page.awaitReady(READY_LIMIT)) {
      throw new IllegalStateException("the fleet is not ready: " + page.read());
    }
  }

  /** The longest time that the router lets a client wait without a byte, and then some. */
  int hungMillis() {
    RouterConfig.Timeouts timeouts = config.timeouts();
    int reading = timeouts.requestBodyMs() + 11 * config.tokenizing().deadlineMs();
    int attempt = timeouts.connectMs() + timeouts.firstByteMs() + config.retry().backoffLimitMs();
    int waiting = config.queue().timeoutMs() + config.retry().attempts() * attempt;
    return reading + waiting + timeouts.totalMs() + 5_000; // silence of an engine that is alive
  }

  /** Longer than the router waits for a client that reads nothing. */
  int stallMillis() {
    return config.timeouts().streamIdleMs() + 5_000;
  }

  /** Longest time from a request's last sign of life to the end of all that it left behind. */
  int settleMillis() {
    return hungMillis() + config.timeouts().totalMs() + config.index().expectedTtlMs();
  }

  @Override
  public void close() {
    router.close();
    engines.forEach(ChaosEngine::close);
    launcher.close();
  }

  private RouterConfig config() {
    try {
      ConfigTree tree =
          ConfigTree.empty()
              .put("models", Map.of("name", ChaosPlan.MODEL, "tokenizer", "embedded"), ORIGIN);
      for (Map.Entry<String, Object> setting : SETTINGS.entrySet()) {
        tree = tree.set(setting.getKey(), setting.getValue(), ORIGIN);
      }
      for (ChaosEngine engine : engines) {
        tree = tree.put("replicas", replica(engine), ORIGIN);
      }
      return tree.config();
    } catch (ConfigException e) {
      throw new IllegalStateException("the configuration of the chaos run", e);
    }
  }

  private static final Map<String, Object> SETTINGS =
      Map.ofEntries(
          Map.entry("listen.port", 0),
          Map.entry("admin.port", 0),
          Map.entry("snapshot.enabled", false),
          Map.entry("shutdown.deadline-ms", 2_000),
          Map.entry("health.interval-ms", 250),
          Map.entry("health.timeout-ms", 500),
          Map.entry("timeouts.connect-ms", 500),
          Map.entry("timeouts.request-head-ms", 2_000),
          Map.entry("timeouts.request-body-ms", 2_000),
          Map.entry("timeouts.first-byte-ms", 2_000),
          Map.entry("timeouts.stream-idle-ms", 2_000),
          Map.entry("timeouts.total-ms", 15_000),
          Map.entry("limits.client-buffer-bytes", 4_096),
          Map.entry("limits.requests", 200),
          Map.entry("limits.replica-requests", 6),
          Map.entry("queue.requests", 12),
          Map.entry("queue.timeout-ms", 1_000),
          Map.entry("index.expected-ttl-ms", 5_000));

  private static Map<String, String> replica(ChaosEngine engine) {
    return Map.of(
        "name", engine.name(),
        "url", engine.url(),
        "events", engine.engine().eventsEndpoint(),
        "replay", engine.engine().replayEndpoint());
  }
}
