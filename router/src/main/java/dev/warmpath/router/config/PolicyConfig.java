package dev.warmpath.router.config;

import dev.warmpath.router.routing.policy.Policies;
import java.util.Map;

/**
 * How a replica is chosen.
 *
 * <p>Immutable.
 *
 * @param options those that the policy has; checked by making one
 */
public record PolicyConfig(
    @Key(
            standard = "warm",
            choices = {
              "aibrix",
              "cache-aware",
              "conductor",
              "consistent-hash",
              "dynamo",
              "least-requests",
              "llm-d-affinity",
              "llm-d-weighted",
              "lmetric",
              "power-of-two",
              "preble",
              "random",
              "round-robin",
              "smg",
              "sticky",
              "warm"
            })
        String name,
    @Key(advanced = true) Map<String, Double> options,
    @Key(standard = "x-session-id") String sessionHeader) {

  public PolicyConfig {
    options = Map.copyOf(options);
    Policies.named(name, options);
  }
}
