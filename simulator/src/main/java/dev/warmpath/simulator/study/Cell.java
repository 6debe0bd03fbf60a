package dev.warmpath.simulator.study;

import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.Routers;

/**
 * One combination of a study.
 *
 * @param replicas engines of the fleet
 * @param kvTokens tokens that each one's cache holds
 * @param hostKvTokens tokens that each one's host tier holds, 0 for none
 * @param load share of the knee, or NaN if the rate was given
 * @param rate how many times as fast as recorded requests arrive
 * @param routers in front of the engines
 */
public record Cell(
    String trace,
    int replicas,
    long kvTokens,
    long hostKvTokens,
    double load,
    double rate,
    IndexMode index,
    String policy,
    Routers routers) {

  /** One of a fleet without host tier, behind one router. */
  public Cell(
      String trace,
      int replicas,
      long kvTokens,
      double load,
      double rate,
      IndexMode index,
      String policy) {
    this(trace, replicas, kvTokens, 0, load, rate, index, policy, Routers.ONE);
  }

  /** The fleet in words. */
  public String fleet() {
    return replicas + " × " + replica();
  }

  /** One replica in words. */
  public String replica() {
    String host = hostKvTokens == 0 ? "" : " + " + amount(hostKvTokens) + " on the host";
    return amount(kvTokens) + " tokens" + host;
  }

  /** What is compared within a setting: the policy, and the routers if there are several. */
  public String contender() {
    return routers.count() == 1 ? policy : policy + ", " + routers;
  }

  /** All but the policy and the routers: what is compared within. */
  public String setting() {
    return String.format(
        java.util.Locale.ROOT,
        "%s, %s, %s, index %s",
        trace,
        fleet(),
        Double.isNaN(load)
            ? String.format(java.util.Locale.ROOT, "rate %.3g", rate)
            : String.format(java.util.Locale.ROOT, "load %.2f (rate %.3g)", load, rate),
        index);
  }

  private static String amount(long tokens) {
    return tokens % 1_000_000 == 0 ? tokens / 1_000_000 + "M" : tokens / 1000 + "k";
  }
}
