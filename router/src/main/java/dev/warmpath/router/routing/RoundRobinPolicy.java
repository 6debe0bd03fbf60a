package dev.warmpath.router.routing;

/**
 * The candidate whose last turn is longest ago. With the same candidates each time that is strict
 * rotation, and it stays fair when replicas come, go or serve different models.
 */
final class RoundRobinPolicy implements Policy {

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
