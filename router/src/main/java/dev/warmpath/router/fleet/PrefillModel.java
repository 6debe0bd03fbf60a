package dev.warmpath.router.fleet;

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

  /**
   * What was learned, here or as another router tells it.
   *
   * @param overheadMillis what a step takes whatever it computes
   * @param cost of the tokens
   * @param samples requests from which it was learned
   */
  public record Speed(double overheadMillis, PrefillCost cost, long samples) {

    public Speed {
      if (!(overheadMillis >= 0 && overheadMillis < Double.POSITIVE_INFINITY) || samples < 0) {
        throw new IllegalArgumentException(
            "overheadMillis=" + overheadMillis + " samples=" + samples);
      }
    }

    /** With the parameters multiplied by exp of these steps, as far as their bounds allow. */
    private Speed moved(double overhead, double perToken, double perPair, long newSamples) {
      PrefillCost standard = PrefillCost.DEFAULT;
      return new Speed(
          bounded(overheadMillis * Math.exp(overhead), DEFAULT_OVERHEAD_MILLIS),
          new PrefillCost(
              bounded(cost.millisPerToken() * Math.exp(perToken), standard.millisPerToken()),
              bounded(
                  cost.millisPerTokenPair() * Math.exp(perPair), standard.millisPerTokenPair())),
          newSamples);
    }

    private static double bounded(double value, double standard) {
      return Math.max(standard / BOUND, Math.min(value, standard * BOUND));
    }
  }

  private Speed speed = new Speed(DEFAULT_OVERHEAD_MILLIS, PrefillCost.DEFAULT, 0);

  /** What tokens were learned to cost. */
  public PrefillCost cost() {
    return speed.cost;
  }

  /** From how many requests it was learned. */
  public long samples() {
    return speed.samples;
  }

  /** All of it. */
  Speed speed() {
    return speed;
  }

  /** Goes on from what another has learned, if that is from far more. */
  void adopt(Speed other) {
    if (other.samples > FAR_MORE * speed.samples) {
      speed = other.moved(0, 0, 0, other.samples);
    }
  }

  /** The engine was seen to compute so much. */
  void observe(PrefillPeriod.Sample seen) {
    if (!(seen.tokens() > 0 && seen.millis() > 0)) {
      return;
    }
    double overhead = speed.overheadMillis * seen.steps();
    double perToken = speed.cost.millisPerToken() * seen.tokens();
    double perPair = speed.cost.millisPerTokenPair() * seen.tokenPairs();
    double predicted = overhead + perToken + perPair;
    double error = Math.log(seen.millis() / predicted);
    double step = RATE * Math.max(-MOST_ERROR, Math.min(error, MOST_ERROR)) / predicted;
    speed = speed.moved(step * overhead, step * perToken, step * perPair, speed.samples + 1);
  }

  /**
   * A time in which an engine always had a prompt to compute: what it computed, and how long that
   * took. What a single prompt takes does not show its speed, for a step computes several at once.
   *
   * <p>Confined to its engine's lock.
   */
  static final class PrefillPeriod {

    /** A long period is as good as several: it is judged whenever so many tokens are computed. */
    private static final long LONG_TOKENS = 1 << 16;

    /** First tokens of one step come within so much. */
    private static final long SAME_STEP_NANOS = 2_000_000;

    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * What was computed in a time.
     *
     * @param steps at whose ends first tokens came
     * @param tokens computed
     * @param tokenPairs of those and the tokens that they attend to
     */
    record Sample(int steps, long tokens, double tokenPairs, double millis) {}

    private long beganNanos;
    private long lastNanos;
    private int steps;
    private long tokens;
    private double tokenPairs;
    private boolean spoilt;

    /** The first prompt came. */
    void begin(long nowNanos) {
      beganNanos = nowNanos;
      lastNanos = nowNanos;
      steps = 0;
      tokens = 0;
      tokenPairs = 0;
      spoilt = false;
    }

    /** Something in it took a time that does not show. */
    void spoil() {
      spoilt = true;
    }

    /** A prompt's first token came. */
    void computed(int uncachedTokens, int promptTokens, long nowNanos) {
      if (steps == 0 || nowNanos - lastNanos > SAME_STEP_NANOS) {
        steps++;
      }
      lastNanos = nowNanos;
      tokens += uncachedTokens;
      tokenPairs += PrefillCost.tokenPairs(uncachedTokens, promptTokens);
    }

    boolean isLong() {
      return tokens >= LONG_TOKENS;
    }

    /** What was computed until now; null if that is not known. */
    @org.jspecify.annotations.Nullable
    Sample sample(long nowNanos) {
      return spoilt || tokens == 0
          ? null
          : new Sample(steps, tokens, tokenPairs, (nowNanos - beganNanos) / NANOS_PER_MILLI);
    }
  }
}
