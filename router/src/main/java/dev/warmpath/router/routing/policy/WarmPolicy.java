package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Lowest;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;

/**
 * The candidate whose choice costs everyone the least time, in milliseconds: {@code queue +
 * (1+k)·T(c, n) + decode}.
 *
 * <p>A miss is paid in this request's own wait, and k times again by the requests queued behind it
 * and by the blocks that it evicts. {@code decode = decodeWeight·r·(stepMillis + contextMillis·K)}
 * is how much the r requests in flight, with K tokens of context, slow it down and are slowed. When
 * the prompt's tokens are not known T is 0 for all, and load alone decides.
 *
 * <p>Immutable.
 */
public final class WarmPolicy implements Policy {

  private final Weights weights;

  /**
   * The constants of the formula.
   *
   * @param missWeight k, how often a miss is paid beyond the request's own wait
   * @param decodeWeight share of a decode step that one request in flight costs
   * @param stepMillis a decode step without context
   * @param contextMillis what one token of context adds to a step
   */
  public record Weights(
      double missWeight, double decodeWeight, double stepMillis, double contextMillis) {

    /** What a preview on recorded conversations showed to be good all round. */
    public static final Weights DEFAULT = new Weights(2, 0.25, 15, 3.4e-5);

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
  public int choose(RoutingRequest request, Candidates candidates) {
    return Lowest.of(
        request,
        candidates,
        row ->
            candidates.queuedMillis(row)
                + (1 + weights.missWeight) * candidates.prefillMillis(request, row)
                + decodeMillis(candidates, row));
  }

  @Override
  public String reason(RoutingRequest request, Candidates candidates, int winner) {
    return candidates.creditTokens(winner) > 0 && request.promptKnown() ? "cache" : "load";
  }

  @Override
  public Score score(RoutingRequest request, Candidates candidates, int row) {
    double prefill = candidates.prefillMillis(request, row);
    return Score.of(
        Score.term("queue_millis", candidates.queuedMillis(row)),
        Score.term("prefill_millis", prefill),
        Score.term("miss_millis", weights.missWeight * prefill),
        Score.term("decode_millis", decodeMillis(candidates, row)));
  }

  private double decodeMillis(Candidates candidates, int row) {
    double step = weights.stepMillis + weights.contextMillis * candidates.contextTokens(row);
    return weights.decodeWeight * candidates.requests(row) * step;
  }
}
