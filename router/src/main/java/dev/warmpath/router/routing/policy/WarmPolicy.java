package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Ranking;
import dev.warmpath.router.routing.RankingPolicy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;

/**
 * The candidate whose choice costs everyone the least time, in milliseconds: {@code queue +
 * (1+k)·T(c, n) + decode}.
 *
 * <p>A miss is paid in this request's own wait, and again by each of the k requests that come to
 * stand behind it: {@code k = missWeight·(w + 1/8)}, w being how many prompts wait at an engine, by
 * the median; the eighth is for the blocks that it evicts. So a fleet with idle engines gives each
 * request the engine that answers it first, but keeps siblings together, and the nearer the fleet
 * comes to its limit, the more the work counts that a hit saves. {@code decode =
 * decodeWeight·r·(stepMillis + contextMillis·K)} is how much the r requests in flight, with K
 * tokens of context, slow it down and are slowed. When the prompt's tokens are not known T is 0 for
 * all, and load alone decides.
 *
 * <p>Immutable.
 */
public final class WarmPolicy implements RankingPolicy {

  private static final double EVICTED = 0.125;

  private final Weights weights;

  /**
   * The constants of the formula.
   *
   * @param missWeight how many requests come to stand behind a prompt for each that waits now
   * @param decodeWeight share of a decode step that one request in flight costs
   * @param stepMillis a decode step without context
   * @param contextMillis what one token of context adds to a step
   */
  public record Weights(
      double missWeight, double decodeWeight, double stepMillis, double contextMillis) {

    /** What was good all round on recorded workloads; docs/policies.md has the sweep. */
    public static final Weights DEFAULT = new Weights(2, 0.5, 15, 3.4e-5);

    public Weights {
      requireWeight("missWeight", missWeight);
      requireWeight("decodeWeight", decodeWeight);
      requireWeight("stepMillis", stepMillis);
      requireWeight("contextMillis", contextMillis);
    }

    private static void requireWeight(String name, double value) {
      if (!(value >= 0 && value <= 1e6)) {
        throw new IllegalArgumentException(name + "=" + value + ", must be from 0 to 1000000");
      }
    }
  }

  public WarmPolicy(Weights weights) {
    this.weights = weights;
  }

  @Override
  public String name() {
    return "warm";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    double behind = weights.missWeight * (candidates.medianWaiting() + EVICTED);
    return new Price(request, candidates, weights, behind);
  }

  /** What a choice costs; {@code behind} is k. */
  private record Price(
      RoutingRequest request, Candidates candidates, Weights weights, double behind)
      implements Ranking {

    @Override
    public double cost(int row) {
      return candidates.queuedMillis(row)
          + (1 + behind) * candidates.prefillMillis(request, row)
          + decodeMillis(row);
    }

    @Override
    public Score score(int row) {
      double prefill = candidates.prefillMillis(request, row);
      return Score.of(
          Score.term("queue_millis", candidates.queuedMillis(row)),
          Score.term("prefill_millis", prefill),
          Score.term("miss_millis", behind * prefill),
          Score.term("decode_millis", decodeMillis(row)));
    }

    @Override
    public String reason(int winner) {
      return candidates.reason(request, winner);
    }

    private double decodeMillis(int row) {
      double step = weights.stepMillis + weights.contextMillis * candidates.contextTokens(row);
      return weights.decodeWeight * candidates.requests(row) * step;
    }
  }
}
