package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidate;
import dev.warmpath.router.routing.Decision;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import java.util.List;

/**
 * The candidate whose last turn is longest ago. With the same candidates each time that is strict
 * rotation, and it stays fair when replicas come, go or serve different models.
 *
 * <p>Immutable.
 */
public final class RoundRobinPolicy implements Policy {

  @Override
  public String name() {
    return "round-robin";
  }

  @Override
  public Decision choose(RoutingRequest request, List<Candidate> candidates) {
    return Decision.cheapest(
        request,
        candidates,
        candidate -> Score.of(Score.term("last_turn", (double) candidate.lastTurn())),
        "turn");
  }
}
