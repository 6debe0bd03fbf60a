package dev.warmpath.router.doctor.probe;

import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.doctor.facts.DiscoveryFacts;
import dev.warmpath.router.members.Found;
import dev.warmpath.router.members.HostRules;
import dev.warmpath.router.members.Look;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Looks once at each source of replicas. A replica that is configured, or was found by an earlier
 * source, counts; another of its name is refused, as the router does it. Blocks.
 *
 * <p>Confined to one thread.
 */
final class DiscoveryProbe {

  private final HostRules rules;
  private final Map<String, ReplicaConfig> replicas = new LinkedHashMap<>();
  private final List<DiscoveryFacts> sources = new ArrayList<>();

  /** Looks at all sources of {@code config}. */
  DiscoveryProbe(RouterConfig config) {
    rules = new HostRules(config.fleet().hostPatterns());
    config.replicas().forEach(replica -> replicas.put(replica.name(), replica));
    config.discovery().forEach(source -> sources.add(look(source)));
  }

  /** Those that are configured, and those that were found. */
  List<ReplicaConfig> replicas() {
    return List.copyOf(replicas.values());
  }

  List<DiscoveryFacts> sources() {
    return sources;
  }

  private DiscoveryFacts look(DiscoveryConfig source) {
    try (Look look = Look.of(source)) {
      return take(source.name(), look.look());
    } catch (IOException e) {
      return new DiscoveryFacts(
          source.name(), String.valueOf(e.getMessage()), List.of(), List.of());
    }
  }

  private DiscoveryFacts take(String source, Found found) {
    List<String> taken = new ArrayList<>();
    List<String> refused = new ArrayList<>(found.refused());
    for (ReplicaConfig replica : found.replicas()) {
      String reason = rules.judge(source, replica).refusal();
      if (reason != null) {
        refused.add(replica.name() + ": " + reason);
      } else if (replicas.putIfAbsent(replica.name(), replica) != null) {
        refused.add(replica.name() + ": another replica has that name");
      } else {
        taken.add(replica.name());
      }
    }
    return new DiscoveryFacts(source, null, taken, refused);
  }
}
