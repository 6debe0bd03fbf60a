package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Lowest;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;

/** The candidate with the fewest requests in flight. */
public final class LeastRequestsPolicy implements Policy {

  @Override
  public String name() {
    return "least-requests";
  }

  @Override
  public int choose(RoutingRequest request, Candidates candidates) {
    return Lowest.of(request, candidates, candidates::requests);
  }

  @Override
  public String reason(RoutingRequest request, Candidates candidates, int winner) {
    return "load";
  }

  @Override
  public Score score(RoutingRequest request, Candidates candidates, int row) {
    return Score.of(Score.term("requests_in_flight", candidates.requests(row)));
  }
}
