package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Lowest;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;

/**
 * The candidate with the fewest requests in flight for its weight, {@code r/weight}.
 *
 * <p>Not for fleets where prompts share prefixes: it does not look at caches.
 *
 * <p>Thread-safe.
 */
public final class LeastRequestsPolicy implements Policy {

  @Override
  public String name() {
    return "least-requests";
  }

  @Override
  public int choose(RoutingRequest request, Candidates candidates) {
    return Lowest.of(request, candidates, row -> load(candidates, row));
  }

  @Override
  public String reason(RoutingRequest request, Candidates candidates, int winner) {
    return "load";
  }

  @Override
  public Score score(RoutingRequest request, Candidates candidates, int row) {
    return Score.of(Score.term("requests_in_flight", load(candidates, row)));
  }

  static double load(Candidates candidates, int row) {
    return candidates.requests(row) / candidates.weight(row);
  }
}
