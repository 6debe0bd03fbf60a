package dev.warmpath.router.config;

import dev.warmpath.router.config.read.AdvancedKey;
import dev.warmpath.router.config.read.Key;
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
            "warm | aibrix, cache-aware, conductor, consistent-hash, dynamo, least-requests, llm-d-affinity, llm-d-weighted, lmetric, power-of-two, preble, random, round-robin, smg, sticky, warm | Default [policy](policies.md).")
        String name,
    @AdvancedKey(
            " | | [Options](policies.md#options) of `policy.name`, as `{miss-weight: 3}`; others have their defaults.")
        Map<String, Double> options,
    @Key("x-session-id | | Session header, for `consistent-hash` and `sticky`.")
        String sessionHeader) {

  public PolicyConfig {
    options = Map.copyOf(options);
    Policies.named(name, options);
  }
}
