package dev.warmpath.router.fleet.engine;

import dev.warmpath.router.routing.PrefillCost;

/**
 * Learns how fast one engine computes prompts, from what it computed in times in which it always
 * had some.
 *
 * <p>The model is {@code t = o·s + a·c + b·Σ c·(n − c/2)} for c tokens computed in s steps, o being
 * what a step takes whatever it computes: the decoding of others, the network.
 *
 * <p>Confined to its engine's lock.
 */
public final class PrefillModel {

  /*
   * Exponentiated gradient on the logarithm of the time: a sample that took e times as long as
   * predicted multiplies each of o, a, b by exp(RATE · e' · share), e' being e's logarithm cut to ±1
   * and share the term's part of the prediction. So the estimate
   *  - stays positive, and moves by factors: a CPU engine 50 times as slow is found in about 40
   *    samples, as one 50 times as fast is;
   *  - moves for the term that matters: short prompts teach o, long ones a and b;
   *  - is robust: a sample that is wildly off (a pause, a burst behind it) counts no more than one
   *    that is off by e, so the estimate settles near the median, not the mean.
   * Each parameter stays within a factor of BOUND of its default.
   */

  private static final double RATE = 0.1;
  private static final double BOUND = 1000;
  private static final double MOST_ERROR = 1;
  private static final long FAR_MORE = 4;
  private static final double DEFAULT_OVERHEAD_MILLIS = 15;

  private double overheadMillis = DEFAULT_OVERHEAD_MILLIS;
  private PrefillCost cost = PrefillCost.DEFAULT;
  private long samples;

  /** What was learned. */
  public PrefillCost cost() {
    return cost;
  }

  /** From how many requests it was learned. */
  public long samples() {
    return samples;
  }

  /** All of it. */
  LearnedSpeed learned() {
    return new LearnedSpeed(overheadMillis, cost, samples);
  }

  /** Goes on from what another has learned, if that is from far more. */
  void adopt(LearnedSpeed other) {
    if (other.samples() > FAR_MORE * samples) {
      PrefillCost standard = PrefillCost.DEFAULT;
      overheadMillis = moved(other.overheadMillis(), 0, DEFAULT_OVERHEAD_MILLIS);
      cost =
          new PrefillCost(
              moved(other.cost().millisPerToken(), 0, standard.millisPerToken()),
              moved(other.cost().millisPerTokenPair(), 0, standard.millisPerTokenPair()));
      samples = other.samples();
    }
  }

  /** The engine was seen to compute so much. */
  void observe(PrefillPeriod.Sample seen) {
    if (!(seen.tokens() > 0 && seen.millis() > 0)) {
      return;
    }
    double overhead = overheadMillis * seen.steps();
    double perToken = cost.millisPerToken() * seen.tokens();
    double perPair = cost.millisPerTokenPair() * seen.tokenPairs();
    double predicted = overhead + perToken + perPair;
    double error = Math.log(seen.millis() / predicted);
    double step = RATE * Math.max(-MOST_ERROR, Math.min(error, MOST_ERROR));
    PrefillCost standard = PrefillCost.DEFAULT;
    overheadMillis = moved(overheadMillis, step * overhead / predicted, DEFAULT_OVERHEAD_MILLIS);
    cost =
        new PrefillCost(
            moved(cost.millisPerToken(), step * perToken / predicted, standard.millisPerToken()),
            moved(
                cost.millisPerTokenPair(),
                step * perPair / predicted,
                standard.millisPerTokenPair()));
    samples++;
  }

  private static double moved(double value, double step, double standard) {
    double moved = value * Math.exp(step);
    return Math.max(standard / BOUND, Math.min(moved, standard * BOUND));
  }
}
