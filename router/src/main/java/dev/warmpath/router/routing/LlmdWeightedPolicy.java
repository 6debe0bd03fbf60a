package dev.warmpath.router.routing;

/**
 * The highest weighted sum of three scores from 0 to 1: {@code prefix·H/N + kvUse·(1 − u) +
 * queue·(max w − w)/(max w − min w)}. H of the prompt's N blocks are held, u is the {@linkplain
 * Candidates#kvUse KV use}, w the requests that wait. Where all have as many waiting, each queue
 * scores 1.
 *
 * <p>Source: llm-d's inference scheduler, default scorers and weights (2026). u and w are the
 * router's own counts, which are newer than what it would scrape.
 *
 * <p>Not for mixed prompt lengths: a share of the prompt weighs as much for 100 tokens as for
 * 100,000, and w has no unit of time.
 *
 * <p>Thread-safe.
 */
final class LlmdWeightedPolicy implements RankingPolicy {

  private final Weights weights;

  /** The weights of the three scores, each from 0. */
  public record Weights(double prefix, double kvUse, double queue) {

    /** As llm-d has them. */
    public static final Weights DEFAULT = new Weights(3, 2, 2);

    public Weights {
      Options.require("prefix-weight", prefix);
      Options.require("kv-use-weight", kvUse);
      Options.require("queue-weight", queue);
    }
  }

  public LlmdWeightedPolicy(Weights weights) {
    this.weights = weights;
  }

  @Override
  public String name() {
    return "llm-d-weighted";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    int least = Integer.MAX_VALUE;
    int most = 0;
    for (int row = 0; row < candidates.count(); row++) {
      least = Math.min(least, candidates.waiting(row));
      most = Math.max(most, candidates.waiting(row));
    }
    return new Sum(request, candidates, weights, least, most);
  }

  private record Sum(
      RoutingRequest request,
      Candidates candidates,
      Weights weights,
      int leastWaiting,
      int mostWaiting)
      implements Ranking {

    @Override
    public double cost(int row) {
      return prefix(row) + kvUse(row) + queue(row);
    }

    private double prefix(int row) {
      return -weights.prefix * candidates.creditBlocks(request, row) / request.lengthBlocks();
    }

    private double kvUse(int row) {
      return -weights.kvUse * (1 - candidates.kvUse(row));
    }

    private double queue(int row) {
      int range = mostWaiting - leastWaiting;
      return -weights.queue
          * (range == 0 ? 1 : (double) (mostWaiting - candidates.waiting(row)) / range);
    }

    @Override
    public Score score(int row) {
      return Score.of(
          Score.term("prefix", prefix(row)),
          Score.term("kv_use", kvUse(row)),
          Score.term("queue", queue(row)));
    }

    @Override
    public String reason(int winner) {
      return candidates.reason(request, winner);
    }
  }
}
