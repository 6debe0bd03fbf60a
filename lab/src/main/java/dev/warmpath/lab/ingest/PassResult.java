package dev.warmpath.lab.ingest;

import dev.warmpath.simulator.study.Spread;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * One pass over a corpus.
 *
 * @param cpuNanos of the threads between socket and index
 * @param exact whether the index holds what the engines hold, and each probe was answered in full
 */
record PassResult(long eventBlocks, long wallNanos, long cpuNanos, boolean exact) {

  double blocksPerSecond() {
    return 1e9 * eventBlocks / wallNanos;
  }

  double blocksPerCpuSecond() {
    return 1e9 * eventBlocks / Math.max(1, cpuNanos);
  }

  static double median(List<PassResult> rounds, ToDoubleFunction<PassResult> of) {
    return Spread.of(rounds.stream().mapToDouble(of).toArray()).median();
  }
}
