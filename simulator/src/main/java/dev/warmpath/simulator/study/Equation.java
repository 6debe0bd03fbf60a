package dev.warmpath.simulator.study;

import dev.warmpath.simulator.engine.StepCost;

/**
 * A time that an engine took, and the work that it did in it: {@code millis = base·steps +
 * token·tokens + pair·pairs + context·contextTokens}.
 *
 * @param contextTokens tokens in front of those decoded, summed over steps and sequences
 */
record Equation(double steps, double tokens, double pairs, double contextTokens, double millis) {

  static final int UNKNOWNS = 4;

  double coefficient(int unknown) {
    return switch (unknown) {
      case 0 -> steps;
      case 1 -> tokens;
      case 2 -> pairs;
      default -> contextTokens;
    };
  }

  /** The time that an engine of this cost takes. */
  double millis(StepCost cost) {
    return cost.baseMillis() * steps
        + cost.prefillTokenMillis() * tokens
        + cost.attentionMillis() * pairs
        + cost.decodeContextMillis() * contextTokens;
  }

  /** Whether it can be used. */
  boolean isSound() {
    return millis > 0 && steps > 0 && Double.isFinite(tokens + pairs + contextTokens);
  }
}
