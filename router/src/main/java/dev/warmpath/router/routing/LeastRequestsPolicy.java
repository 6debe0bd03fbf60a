package dev.warmpath.router.routing;

/**
 * The candidate with the fewest requests in flight for its weight, {@code r/weight}.
 *
 * <p>Not for fleets where prompts share prefixes: it does not look at caches.
 *
 * <p>Thread-safe.
 */
final class LeastRequestsPolicy implements Policy {

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
