package dev.warmpath.simulator.study;

import dev.warmpath.simulator.fleet.IndexMode;
import java.util.concurrent.ExecutorService;

/**
 * Where a fleet's waiting times rise: the highest rate at which the mean time to first token is at
 * most {@value #RISE} times what it is at a light load. The policy is {@value #POLICY}, published
 * and good all round, so that the load of a cell does not depend on what is compared there.
 */
final class Knee {

  private static final String POLICY = "conductor";
  private static final double RISE = 4;
  private static final double LIGHT = 0.1;
  private static final double STEP = 1.6;
  private static final int HALVINGS = 4;

  private final Study study;
  private final int replicas;
  private final long kvTokens;

  Knee(Study study, int replicas, long kvTokens) {
    this.study = study;
    this.replicas = replicas;
    this.kvTokens = kvTokens;
  }

  double rate(ExecutorService pool) throws InterruptedException {
    double most = RISE * mean(pool, LIGHT);
    double under = LIGHT;
    double over = 2 * LIGHT;
    while (mean(pool, over) <= most && over < 1e4) {
      under = over;
      over *= STEP;
    }
    for (int i = 0; i < HALVINGS; i++) {
      double middle = Math.sqrt(under * over);
      if (mean(pool, middle) <= most) {
        under = middle;
      } else {
        over = middle;
      }
    }
    return under;
  }

  private double mean(ExecutorService pool, double rate) throws InterruptedException {
    Cell cell = new Cell(study.traceName(), replicas, kvTokens, 1, rate, IndexMode.NOW, POLICY);
    return Study.result(pool.submit(() -> study.run(cell, 0, arrivals -> {}).ttftMillis().mean()));
  }
}
