package dev.warmpath.simulator.study;

import dev.warmpath.simulator.fleet.IndexMode;

/** Cells for tests. */
public final class Cells {

  private Cells() {}

  /** On 4 replicas at the recorded rate. */
  public static Cell cell(String policy) {
    return new Cell("chats", 4, 100_000, Double.NaN, 1, IndexMode.NOW, policy);
  }

  /** At a share of the knee. */
  public static Cell cell(String policy, int replicas, double load) {
    return new Cell("chats", replicas, 100_000, load, 2 * load, IndexMode.NOW, policy);
  }
}
