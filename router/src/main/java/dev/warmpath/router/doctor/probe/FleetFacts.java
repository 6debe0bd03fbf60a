package dev.warmpath.router.doctor.probe;

import dev.warmpath.router.config.RouterConfig;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * All that the checks judge.
 *
 * @param tokenizerProblems for each model whose tokenizer cannot be loaded, why
 * @param now when this was found
 */
public record FleetFacts(
    RouterConfig config,
    List<ReplicaFacts> replicas,
    Map<String, String> tokenizerProblems,
    HostFacts host,
    Instant now) {

  public FleetFacts {
    replicas = List.copyOf(replicas);
    tokenizerProblems = Map.copyOf(tokenizerProblems);
  }
}
