package dev.warmpath.router.fleet;

import dev.warmpath.router.routing.DecodeCost;

/**
 * Learns how long one engine's steps take while it decodes, from streams that ended there.
 *
 * <p>A stream of n steps takes {@code n·(o + c·K) + p}: K is the context in flight on average over
 * the stream, p the time of the prompts that were computed meanwhile. Streams of fewer than 16
 * steps teach nothing: their time is that of the network's packets.
 *
 * <p>Confined to its engine's lock.
 */
final class DecodeModel {

  /* Moves as PrefillModel does, which says why; prompts are priced there and only take their part. */

  private static final double RATE = 0.05;
  private static final double BOUND = 100;
  private static final double MOST_ERROR = 1;
  private static final int LEAST_STEPS = 16;

  private DecodeCost cost = DecodeCost.DEFAULT;
  private long samples;

  DecodeCost cost() {
    return cost;
  }

  /** Streams that taught something. */
  long samples() {
    return samples;
  }

  /**
   * A stream ended.
   *
   * @param millis from its first token to its last
   * @param steps in this time
   * @param contextTokens in flight, on average
   * @param promptMillis of what was computed meanwhile
   */
  void observe(double millis, int steps, double contextTokens, double promptMillis) {
    if (!(millis > 0 && steps >= LEAST_STEPS && contextTokens >= 0 && promptMillis >= 0)) {
      return;
    }
    samples++;
    double base = cost.stepMillis() * steps;
    double context = cost.contextMillis() * contextTokens * steps;
    double predicted = base + context + promptMillis;
    double error = Math.log(millis / predicted);
    double step = RATE * Math.max(-MOST_ERROR, Math.min(error, MOST_ERROR)) / predicted;
    cost =
        new DecodeCost(
            moved(cost.stepMillis(), step * base, DecodeCost.DEFAULT.stepMillis()),
            moved(cost.contextMillis(), step * context, DecodeCost.DEFAULT.contextMillis()));
  }

  private static double moved(double value, double by, double standard) {
    return Math.max(standard / BOUND, Math.min(value * Math.exp(by), standard * BOUND));
  }
}
