package dev.warmpath.simulator;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.simulator.live.LiveEngine;
import java.util.LinkedHashMap;
import java.util.Map;

/** Configurations of routers before simulated engines. */
public final class TestRouters {

  private TestRouters() {}

  /** On any ports, without models and replicas, with the patience that a busy machine needs. */
  public static ConfigTree patient() {
    return ConfigTree.empty()
        .set("listen.port", 0, "test")
        .set("admin.port", 0, "test")
        .set("shutdown.deadline-ms", 2_000, "test")
        .set("tokenizing.deadline-ms", 60_000, "test")
        .set("health.timeout-ms", 60_000, "test")
        .set("timeouts.connect-ms", 60_000, "test");
  }

  /** The same, for what engines serve by the embedded tokenizer. */
  public static ConfigTree patientWithModel() {
    return patient().put("models", Map.of("name", "sim", "tokenizer", "embedded"), "test");
  }

  /** The entry of an engine. */
  public static Map<String, Object> replica(String name, LiveEngine engine) {
    Map<String, Object> replica = new LinkedHashMap<>();
    replica.put("name", name);
    replica.put("url", engine.url());
    replica.put("events", engine.eventsEndpoint());
    replica.put("replay", engine.replayEndpoint());
    return replica;
  }
}
