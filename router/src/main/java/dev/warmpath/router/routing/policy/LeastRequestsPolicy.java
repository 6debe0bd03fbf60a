package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidate;
import dev.warmpath.router.routing.Decision;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import java.util.List;

/** The candidate with the fewest requests in flight. Immutable. */
public final class LeastRequestsPolicy implements Policy {

  @Override
  public String name() {
    return "least-requests";
  }

  @Override
  public Decision choose(RoutingRequest request, List<Candidate> candidates) {
    return Decision.cheapest(request, candidates, LeastRequestsPolicy::cost, "load");
  }

  static Score cost(Candidate candidate) {
    return Score.of(Score.term("requests_in_flight", candidate.load().requestsInFlight()));
  }
}
