package dev.warmpath.router.routing;

/**
 * Of two candidates drawn by chance the one with fewer requests in flight.
 *
 * <p>Source: Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (1996), as in
 * SGLang's router and Envoy. Not for fleets where prompts share prefixes: it does not look at
 * caches.
 *
 * <p>Thread-safe.
 */
final class PowerOfTwoPolicy implements RankingPolicy {

  @Override
  public String name() {
    return "power-of-two";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    int count = candidates.count();
    int first = (int) Long.remainderUnsigned(request.draw(), count);
    long rest = Long.divideUnsigned(request.draw(), count);
    int other = count == 1 ? 0 : (int) Long.remainderUnsigned(rest, count - 1);
    return new Two(candidates, first, other < first ? other : Math.min(other + 1, count - 1));
  }

  private record Two(Candidates candidates, int first, int second) implements Ranking {

    @Override
    public double cost(int row) {
      return LeastRequestsPolicy.load(candidates, row) + ruledOut(row);
    }

    private double ruledOut(int row) {
      return row == first || row == second ? 0 : RULED_OUT;
    }

    @Override
    public Score score(int row) {
      return Score.of(
          Score.term("requests_in_flight", LeastRequestsPolicy.load(candidates, row)),
          Score.term("not_drawn", ruledOut(row)));
    }

    @Override
    public String reason(int winner) {
      return "load";
    }
  }
}
