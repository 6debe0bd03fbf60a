package dev.warmpath.router.config;

import dev.warmpath.router.config.read.AdvancedKey;
import dev.warmpath.router.config.read.Key;
import dev.warmpath.router.routing.policy.Policies;
import java.util.HashMap;
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
            """
            load-bound | `consistent-hash`: highest load, as a multiple of the average.
            cache-threshold | `cache-aware`: shortest match that counts, as a fraction of the prompt.
            balance-abs-threshold | `cache-aware`: largest difference in requests.
            balance-rel-threshold | `cache-aware`: highest load, as a multiple of the lowest.
            overlap-decay | `smg`, `dynamo`: credit lost per additional queued prompt.
            prefix-weight | `llm-d-weighted`: weight of the prompt's cached part.
            kv-use-weight | `llm-d-weighted`: weight of free KV cache.
            queue-weight | `llm-d-weighted`: weight of a shorter queue.
            affinity-threshold | `llm-d-affinity`: shortest match, as a fraction of the longest.
            prefill-tokens-per-second | `llm-d-affinity`: prefill speed of every engine.
            penalty-millis | `llm-d-affinity`: longest extra wait for a cache.
            prefill-weight | `dynamo`: weight of a block to prefill, relative to decode.
            overlap-credit | `dynamo`: blocks saved by a GPU block.
            stay-factor | `sticky`: highest cost of the session's engine, as a multiple of the lowest.
            miss-weight | `warm`: extra miss cost per request waiting at the median engine.
            eviction-weight | `warm`: extra miss cost when the KV cache is full.
            decode-weight | `warm`: cost of a request in flight, in steps.
            step-millis | `warm`: duration of an engine step.
            context-millis | `warm`: extra step time per context token.
            """)
        Map<String, Double> options,
    @Key("x-session-id | | Session header, for `consistent-hash` and `sticky`.")
        String sessionHeader) {

  /** Takes the options of all policies and keeps those of this one. */
  public PolicyConfig {
    options = new HashMap<>(options);
    options.keySet().retainAll(Policies.options(name).keySet());
    options = Map.copyOf(options);
    Policies.named(name, options);
  }
}
