package dev.warmpath.router.routing;

/**
 * A policy that looks at all candidates at once before it ranks them.
 *
 * <p>Thread-safe.
 */
interface RankingPolicy extends Policy {

  /** Ranks the candidates; there is at least one. */
  Ranking rank(RoutingRequest request, Candidates candidates);

  @Override
  default int choose(RoutingRequest request, Candidates candidates) {
    Ranking ranking = rank(request, candidates);
    return Lowest.of(request, candidates, ranking::cost, ranking::tie);
  }

  @Override
  default String reason(RoutingRequest request, Candidates candidates, int winner) {
    return rank(request, candidates).reason(winner);
  }

  @Override
  default Score score(RoutingRequest request, Candidates candidates, int row) {
    return rank(request, candidates).score(row);
  }
}
