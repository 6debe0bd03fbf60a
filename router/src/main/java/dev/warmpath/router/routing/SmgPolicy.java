package dev.warmpath.router.routing;

/**
 * Of those that hold any of the prompt the highest {@code H/(1 + d·x)}: H held blocks, x how much
 * longer the queue is than the shortest, in prompts like this one. Equal ones go by requests in
 * flight.
 *
 * <p>The fewest requests in flight decide if none holds any, or if the winner has more than 1.1
 * times the mean number of requests in flight and more than the mean and 32.
 *
 * <p>Source: SGLang's Model Gateway (2026), with events; d = 0 by default.
 *
 * <p>Not where all prompts share a long prefix: its holder wins until it has 32 requests more than
 * the mean.
 *
 * <p>Immutable.
 */
final class SmgPolicy implements RankingPolicy {

  private static final double MOST_OF_MEAN = 1.1;
  private static final double MOST_OVER_MEAN = 32;

  private final double overlapDecay;

  /**
   * @param overlapDecay d, from 0
   */
  public SmgPolicy(double overlapDecay) {
    this.overlapDecay = Options.require("overlap-decay", overlapDecay);
  }

  @Override
  public String name() {
    return "smg";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    Ranking overlap =
        new Overlap(request, candidates, overlapDecay, candidates.leastQueuedTokens());
    int winner = Lowest.of(request, candidates, overlap::cost, overlap::tie);
    double mean = InFlight.of(candidates).mean();
    int requests = candidates.requests(winner);
    boolean overloaded = requests > MOST_OF_MEAN * mean && requests > mean + MOST_OVER_MEAN;
    boolean held = candidates.creditBlocks(request, winner) > 0;
    return held && !overloaded ? overlap : new FewestRequests(candidates);
  }

  private record Overlap(
      RoutingRequest request, Candidates candidates, double decay, long leastQueued)
      implements Ranking {

    @Override
    public double cost(int row) {
      double size = request.blocks().blockSizeTokens();
      double excess =
          ((double) candidates.queuedTokens(row) - leastQueued) / size / request.lengthBlocks();
      return -candidates.creditBlocks(request, row) / (1 + decay * excess);
    }

    @Override
    public long tie(int row) {
      return candidates.requests(row);
    }

    @Override
    public Score score(int row) {
      return Score.of(Score.term("overlap_blocks", cost(row)));
    }

    @Override
    public String reason(int winner) {
      return "cache";
    }
  }
}
