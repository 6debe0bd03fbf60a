package dev.warmpath.router.routing;

/**
 * The holder of most of the prompt, in whole per cent, that is not far above the others' load; of
 * equal ones the one with the fewest requests in flight. Far above is more than the mean and two
 * standard deviations.
 *
 * <p>The fewest requests in flight decide if candidates differ by more than 16 of them, or if no
 * holder is left.
 *
 * <p>Source: AIBrix's prefix-cache router (2026), with exact matches in place of its own table of
 * prefixes.
 *
 * <p>Not for large fleets under load: 16 requests of difference are usual there, so that caches no
 * longer count.
 *
 * <p>Immutable.
 */
final class AibrixPolicy implements RankingPolicy {

  private static final int MOST_RANGE = 16;
  private static final double DEVIATIONS = 2;

  @Override
  public String name() {
    return "aibrix";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    InFlight inFlight = InFlight.of(candidates);
    if (inFlight.range() > MOST_RANGE) {
      return new FewestRequests(candidates);
    }
    double most = inFlight.mean() + DEVIATIONS * inFlight.deviation();
    Match match = new Match(request, candidates, most);
    for (int row = 0; row < candidates.count(); row++) {
      if (match.isTaken(row)) {
        return match;
      }
    }
    return new FewestRequests(candidates);
  }

  private record Match(RoutingRequest request, Candidates candidates, double mostRequests)
      implements Ranking {

    boolean isTaken(int row) {
      return candidates.creditBlocks(request, row) > 0 && candidates.requests(row) <= mostRequests;
    }

    @Override
    public double cost(int row) {
      return percent(row) + ruledOut(row);
    }

    private double percent(int row) {
      return -Math.floor(100.0 * candidates.creditBlocks(request, row) / request.lengthBlocks());
    }

    private double ruledOut(int row) {
      return isTaken(row) ? 0 : RULED_OUT;
    }

    @Override
    public long tie(int row) {
      return candidates.requests(row);
    }

    @Override
    public Score score(int row) {
      return Score.of(
          Score.term("match_percent", percent(row)),
          Score.term("no_holder_or_overloaded", ruledOut(row)));
    }

    @Override
    public String reason(int winner) {
      return "cache";
    }
  }
}
