package dev.warmpath.router.doctor;

import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.members.Found;
import dev.warmpath.router.members.HostRules;
import dev.warmpath.router.members.Look;
import dev.warmpath.router.members.Membership;
import dev.warmpath.router.members.ReplicaCheck;
import dev.warmpath.router.prompt.InferenceRules;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Looks once at each source of replicas, and takes and refuses what they name as the router does.
 * Blocks.
 *
 * <p>Confined to one thread.
 */
final class DiscoveryProbe {

  private final ReplicaCheck check;
  private final List<ReplicaConfig> replicas = new ArrayList<>();
  private final List<DiscoveryFacts> sources = new ArrayList<>();

  /** Looks at all sources of {@code config}. */
  DiscoveryProbe(RouterConfig config) {
    check = new HostRules(config.fleet().hostPatterns()).firstOfName();
    take(Membership.CONFIGURATION, config.replicas(), new ArrayList<>());
    config.discovery().forEach(source -> sources.add(look(source)));
  }

  /** Those that are configured, and those that were found. */
  List<ReplicaConfig> replicas() {
    return List.copyOf(replicas);
  }

  List<DiscoveryFacts> sources() {
    return sources;
  }

  private DiscoveryFacts look(DiscoveryConfig source) {
    try (Look look = Look.of(source, new InferenceRules(new Random()))) {
      Found found = look.look();
      List<String> refused = new ArrayList<>(found.refused());
      List<String> taken = take(source.name(), found.replicas(), refused);
      return new DiscoveryFacts(source.name(), null, taken, refused);
    } catch (IOException e) {
      return new DiscoveryFacts(
          source.name(), String.valueOf(e.getMessage()), List.of(), List.of());
    }
  }

  /** Returns the names of those that are taken. */
  private List<String> take(String source, List<ReplicaConfig> named, List<String> refused) {
    List<String> taken = new ArrayList<>();
    for (ReplicaConfig replica : named) {
      String reason = check.judge(source, replica).refusal();
      if (reason == null) {
        replicas.add(replica);
        taken.add(replica.name());
      } else {
        refused.add(replica.name() + ": " + reason);
      }
    }
    return taken;
  }
}
