package dev.warmpath.router.fleet;

import dev.warmpath.router.routing.PrefillCost;

/**
 * A time in which an engine always had a prompt to compute: what it computed, and how long that
 * took. What a single prompt takes does not show its speed, for a step computes several at once.
 *
 * <p>Confined to its engine's lock.
 */
final class PrefillPeriod {

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
