package dev.warmpath.router.fleet.engine;

import dev.warmpath.router.routing.PrefillCost;

/**
 * How fast an engine was seen to compute prompts, as one router tells another.
 *
 * <p>Immutable.
 *
 * @param overheadMillis what a step takes whatever it computes
 * @param cost of the tokens
 * @param samples from which it was learned
 */
public record LearnedSpeed(double overheadMillis, PrefillCost cost, long samples) {

  public LearnedSpeed {
    if (!(overheadMillis >= 0 && overheadMillis < Double.POSITIVE_INFINITY) || samples < 0) {
      throw new IllegalArgumentException(
          "overheadMillis=" + overheadMillis + " samples=" + samples);
    }
  }
}
