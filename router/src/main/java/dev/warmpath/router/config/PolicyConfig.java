package dev.warmpath.router.config;

import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.router.routing.SplitRules;
import java.util.Map;

/**
 * How a replica is chosen.
 *
 * <p>Immutable.
 *
 * @param options those that the policy has; checked by making one
 * @param split the rule by which a request is split over two engines, where there are such
 * @param splitOptions those that the rule has
 * @param loadBack whether engines read back what only their slower memory holds of a prompt
 * @param pull whether an engine gets from another one's memory what costs less than to compute it
 */
public record PolicyConfig(
    @Key(
            defaultValue = "warm",
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
    @Key(defaultValue = "x-session-id") String sessionHeader,
    @Key(
            defaultValue = "cheapest",
            choices = {
              "always",
              "cheapest",
              "decode-uncached",
              "never",
              "new-tokens",
              "prompt-tokens"
            })
        String split,
    @Key(advanced = true) Map<String, Double> splitOptions,
    @Key(defaultValue = "cheapest") LoadBack loadBack,
    @Key(defaultValue = "false") boolean pull) {

  public PolicyConfig {
    options = Map.copyOf(options);
    Policies.named(name, options);
    splitOptions = Map.copyOf(splitOptions);
    SplitRules.named(split, splitOptions);
  }
}
