package dev.warmpath.router.doctor;

import dev.warmpath.router.HostFacts;
import dev.warmpath.router.config.RouterConfig;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * All that the checks judge.
 *
 * @param replicas those that are configured, and those that were found
 * @param stores the events of stores that have any
 * @param pairs prompts computed here and answered there; none if requests are forbidden
 * @param sources what {@code discovery} found
 * @param tokenizerProblems for each model whose tokenizer cannot be loaded, why
 * @param now when this was found
 */
record FleetFacts(
    RouterConfig config,
    List<ReplicaFacts> replicas,
    List<StreamFacts> stores,
    List<PairTrial> pairs,
    List<DiscoveryFacts> sources,
    Map<String, String> tokenizerProblems,
    HostFacts host,
    Instant now) {

  public FleetFacts {
    replicas = List.copyOf(replicas);
    stores = List.copyOf(stores);
    pairs = List.copyOf(pairs);
    sources = List.copyOf(sources);
    tokenizerProblems = Map.copyOf(tokenizerProblems);
  }
}
