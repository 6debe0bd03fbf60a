package dev.warmpath.simulator.study;

import dev.warmpath.simulator.fleet.Change;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.Pairs;
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
 * @param pairs of engines that serve a request together
 * @param change of the fleet in the middle of the run
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
    Routers routers,
    Pairs pairs,
    Change change) {

  /** One of a fleet without host tier and pairs, behind one router. */
  public Cell(
      String trace,
      int replicas,
      long kvTokens,
      double load,
      double rate,
      IndexMode index,
      String policy) {
    this(
        trace,
        replicas,
        kvTokens,
        0,
        load,
        rate,
        index,
        policy,
        Routers.ONE,
        Pairs.NONE,
        Change.NONE);
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

  /**
   * What is compared within a setting: the policy, the routers if there are several, the pairs and
   * the change if there are any.
   */
  public String contender() {
    String front = routers.count() == 1 ? policy : policy + ", " + routers;
    String paired = pairs.isOn() ? front + ", " + pairs : front;
    return change.equals(Change.NONE) ? paired : paired + ", " + change;
  }

  /** The same without the change. */
  public Cell unchanged() {
    return new Cell(
        trace,
        replicas,
        kvTokens,
        hostKvTokens,
        load,
        rate,
        index,
        policy,
        routers,
        pairs,
        Change.NONE);
  }

  /** All but the policy, the routers, the pairs and the change: what is compared within. */
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
