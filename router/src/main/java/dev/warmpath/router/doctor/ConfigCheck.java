package dev.warmpath.router.doctor;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.config.StoreConfig;
import java.util.HashMap;
import java.util.Map;

/** Whether there is something to route, something to tokenize with, and nothing twice or idle. */
final class ConfigCheck implements Check {

  @Override
  public void look(FleetFacts fleet, Findings into) {
    RouterConfig config = fleet.config();
    if (config.replicas().isEmpty() && config.discovery().isEmpty()) {
      into.fail(
          Finding.ROUTER, "no replica is configured", "add `replicas`, `discovery` or --replica");
    }
    if (config.models().isEmpty()) {
      into.fail(
          Finding.ROUTER,
          "no tokenizer is configured, so every request is routed by load",
          "add `models` with `name` and `tokenizer`, or --tokenizer MODEL=DIR");
    }
    fleet
        .tokenizerProblems()
        .forEach((model, problem) ->
            into.fail(
                Finding.ROUTER,
                "the tokenizer of " + model + " cannot be loaded: " + problem,
                "correct the model's `tokenizer`: the folder that its engines load"));
    repeated(fleet, into);
    stores(fleet, into);
    if (into.all().isEmpty()) {
      into.ok(
          Finding.ROUTER,
          "replicas: %d, tokenizers: %d"
              .formatted(config.replicas().size(), config.models().size()));
    }
  }

  private static void stores(FleetFacts fleet, Findings into) {
    RouterConfig config = fleet.config();
    for (StoreConfig store : config.stores()) {
      boolean isRead =
          fleet.replicas().stream()
              .map(ReplicaFacts::config)
              .anyMatch(replica ->
                  store.isReadBy(
                      replica.name(), replica.blockModel(config.onlyModel()), config.onlyModel()));
      if (!isRead) {
        into.warn(
            Finding.ROUTER,
            "no replica reads the store " + store.name(),
            "correct its `replicas` and `model`");
      } else if (store.events() == null) {
        into.warn(
            Finding.ROUTER,
            "nobody hears what the store %s drops, so it is trusted by age".formatted(store.name()),
            "add its `events`, if it can publish (Mooncake: build the master with kv events)");
      }
    }
  }

  private static void repeated(FleetFacts fleet, Findings into) {
    Map<String, String> seen = new HashMap<>();
    for (ReplicaFacts replica : fleet.replicas()) {
      once(seen, "url", replica.config().url().toString(), replica.name(), into);
      for (StreamFacts stream : replica.streams()) {
        EngineSource source = stream.source();
        String engine = replica.engine(source.id().dpRank());
        once(seen, "events", source.endpoint(), engine, into);
        if (source.replayEndpoint() != null) {
          once(seen, "replay", source.replayEndpoint(), engine, into);
        }
      }
    }
  }

  private static void once(
      Map<String, String> seen, String key, String value, String subject, Findings into) {
    String other = seen.putIfAbsent(key + " " + value, subject);
    if (other != null) {
      into.fail(
          subject,
          "its `%s` is that of %s: %s".formatted(key, other, value),
          "give each engine its own address");
    }
  }
}
