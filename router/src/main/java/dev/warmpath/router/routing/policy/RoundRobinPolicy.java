package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Lowest;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;

/**
 * The candidate whose last turn is longest ago. With the same candidates each time that is strict
 * rotation, and it stays fair when replicas come, go or serve different models.
 */
public final class RoundRobinPolicy implements Policy {

  @Override
  public String name() {
    return "round-robin";
  }

  @Override
  public int choose(RoutingRequest request, Candidates candidates) {
    return Lowest.of(request, candidates, candidates::lastTurn);
  }

  @Override
  public String reason(RoutingRequest request, Candidates candidates, int winner) {
    return "turn";
  }

  @Override
  public Score score(RoutingRequest request, Candidates candidates, int row) {
    return Score.of(Score.term("last_turn", (double) candidates.lastTurn(row)));
  }
}
