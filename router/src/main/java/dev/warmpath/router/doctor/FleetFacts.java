package dev.warmpath.router.doctor;

import dev.warmpath.router.HostFacts;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.doctor.ReplicaFacts.StreamFacts;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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

  /**
   * The certificate that a server shows.
   *
   * @param subject whom it is for
   * @param notAfter when it expires
   */
  record TlsFacts(String subject, Instant notAfter) {}

  /**
   * What one source of {@code discovery} found at one look.
   *
   * @param problem why the look failed; null if it did not
   * @param found names of the replicas that the router would take
   * @param refused what the router would not take, each with the reason
   */
  record DiscoveryFacts(
      String source, @Nullable String problem, List<String> found, List<String> refused) {

    public DiscoveryFacts {
      found = List.copyOf(found);
      refused = List.copyOf(refused);
    }
  }

  /**
   * One prompt that neither engine had seen, computed at one replica for another one to answer.
   *
   * @param problem why it was not answered; null if it was
   * @param promptTokens its length, as the engine that answered counts it; below 0 if it does not
   * @param receivedTokens by how much that engine's count of tokens from elsewhere grew; NaN if it
   *     has none
   */
  record PairTrial(
      String prefill,
      String decode,
      @Nullable String problem,
      int promptTokens,
      double receivedTokens) {}
}
