package dev.warmpath.router.dispatch;

import dev.warmpath.router.fleet.EngineMeters;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metric;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why tokens of each model's prompts were not cached. A model's series leave the scrape with the
 * last replica that serves it.
 *
 * <p>Thread-safe.
 */
final class UncachedCounters {

  private final Fleet fleet;
  private final MeterRegistry registry;
  private final Map<String, Map<UncachedTokens.Cause, Counter>> byModel = new HashMap<>();

  UncachedCounters(Fleet fleet, MeterRegistry registry) {
    this.fleet = fleet;
    this.registry = registry;
  }

  /** Tokens of a prompt for that model, at a replica that may have left. */
  synchronized void count(Replica replica, @Nullable String model, UncachedTokens tokens) {
    String label = EngineMeters.modelLabel(replica, model);
    Map<UncachedTokens.Cause, Counter> known = byModel.get(label);
    if (known == null) {
      if (!isServed(label)) {
        return;
      }
      known = new EnumMap<>(UncachedTokens.Cause.class);
      byModel.put(label, known);
    }
    for (Map.Entry<UncachedTokens.Cause, Integer> each : tokens.byCause().entrySet()) {
      known
          .computeIfAbsent(each.getKey(), cause -> counter(label, cause))
          .increment(each.getValue());
    }
  }

  private Counter counter(String label, UncachedTokens.Cause cause) {
    return Metric.UNCACHED_TOKENS_TOTAL.counter(registry, label, cause.label());
  }

  /** A replica has left. */
  synchronized void removed() {
    byModel
        .entrySet()
        .removeIf(each -> {
          boolean served = isServed(each.getKey());
          if (!served) {
            each.getValue().values().forEach(registry::remove);
          }
          return !served;
        });
  }

  private boolean isServed(String label) {
    return fleet.replicas().stream()
        .anyMatch(replica -> EngineMeters.modelLabel(replica, label).equals(label));
  }
}
