package dev.warmpath.simulator.study;

import dev.warmpath.simulator.fleet.IndexMode;

/**
 * One combination of a study.
 *
 * <p>Immutable.
 *
 * @param replicas engines of the fleet
 * @param kvTokens tokens that each one's cache holds
 * @param load share of the knee, or NaN if the rate was given
 * @param rate how many times as fast as recorded requests arrive
 */
public record Cell(
    String trace,
    int replicas,
    long kvTokens,
    double load,
    double rate,
    IndexMode index,
    String policy) {

  /** All but the policy: what is compared within. */
  public String setting() {
    return String.format(
        java.util.Locale.ROOT,
        "%s, %d × %s tokens, %s, index %s",
        trace,
        replicas,
        amount(kvTokens),
        Double.isNaN(load)
            ? String.format(java.util.Locale.ROOT, "rate %.3g", rate)
            : String.format(java.util.Locale.ROOT, "load %.2f (rate %.3g)", load, rate),
        index);
  }

  private static String amount(long tokens) {
    return tokens % 1_000_000 == 0 ? tokens / 1_000_000 + "M" : tokens / 1000 + "k";
  }
}
