package dev.warmpath.router.doctor;

import java.util.List;
import org.jspecify.annotations.Nullable;

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
