package dev.warmpath.simulator.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Fresh simulated engines and a router in front of them, in this process.
 *
 * <p>Thread-safe.
 */
public final class DemoFleet implements AutoCloseable {

  private static final String ORIGIN = "demo";
  private static final Duration READY_LIMIT = Duration.ofSeconds(60);

  private final LiveEngines launcher;
  private final List<LiveEngine> engines = new ArrayList<>();
  private final RouterProcess router;
  private final FleetPage page;

  /**
   * Starts everything on any ports.
   *
   * @param tokenizer of the engines; must be the embedded one, which is the router's too
   */
  public DemoFleet(
      ModelTokenizer tokenizer, LiveEngineOptions engine, int replicas, String policy) {
    launcher = new LiveEngines(tokenizer);
    try {
      for (int i = 0; i < replicas; i++) {
        engines.add(launcher.start(engine));
      }
      router = RouterProcess.start(config(engine.model(), policy));
    } catch (RuntimeException e) {
      launcher.close();
      throw e;
    }
    page = new FleetPage(adminUrl());
  }

  public String url() {
    return "http://127.0.0.1:" + router.port();
  }

  public String adminUrl() {
    return "http://127.0.0.1:" + router.adminPort();
  }

  /** The engines, named {@code engine-0} and so on in the router. */
  public List<LiveEngine> engines() {
    return List.copyOf(engines);
  }

  public RouterProcess router() {
    return router;
  }

  /** Waits until every replica is up and its events are followed. */
  public void awaitReady() throws InterruptedException {
    if (!page.awaitReady(READY_LIMIT)) {
      throw new IllegalStateException("the fleet is not ready: " + page.read());
    }
  }

  /** The router's answer to {@code GET /admin/fleet}. */
  public JsonNode fleetPage() throws InterruptedException {
    return page.read();
  }

  @Override
  public void close() {
    router.close();
    launcher.close();
  }

  private RouterConfig config(String model, String policy) {
    try {
      ConfigTree tree =
          ConfigTree.empty()
              .set("listen.port", 0, ORIGIN)
              .set("admin.port", 0, ORIGIN)
              .set("admin.show-prompts", true, ORIGIN)
              .set("headers.cached-tokens", true, ORIGIN)
              .set("policy.name", policy, ORIGIN)
              .set("shutdown.deadline-ms", 2_000, ORIGIN)
              .set("health.interval-ms", 500, ORIGIN)
              .set("health.timeout-ms", 5_000, ORIGIN)
              .set("health.fall", 10, ORIGIN)
              .put("models", Map.of("name", model, "tokenizer", "embedded"), ORIGIN);
      for (int i = 0; i < engines.size(); i++) {
        tree = tree.put("replicas", replica("engine-" + i, engines.get(i)), ORIGIN);
      }
      return tree.config();
    } catch (ConfigException e) {
      throw new IllegalStateException("the demo's configuration", e);
    }
  }

  private static Map<String, String> replica(String name, LiveEngine engine) {
    return Map.of(
        "name", name,
        "url", engine.url(),
        "events", engine.eventsEndpoint(),
        "replay", engine.replayEndpoint());
  }
}
