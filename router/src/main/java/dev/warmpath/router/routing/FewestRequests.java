package dev.warmpath.router.routing;

/** By requests in flight: what policies do when load is uneven or nothing is cached. */
record FewestRequests(Candidates candidates) implements Ranking {

  @Override
  public double cost(int row) {
    return candidates.requests(row);
  }

  @Override
  public Score score(int row) {
    return Score.of(Score.term("requests_in_flight", cost(row)));
  }

  @Override
  public String reason(int winner) {
    return "load";
  }
}
