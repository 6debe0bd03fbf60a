package dev.warmpath.simulator.bench.index;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.plain.PlainKvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;

/** The indexes that can be measured. Immutable. */
public enum IndexChoice {
  /** Runs of blocks in columns. */
  RUNS,
  /** Hash maps. */
  PLAIN;

  private static final int ORPHANS_PER_ENGINE = 1 << 16;

  /** An empty index. */
  public KvIndex create() {
    return switch (this) {
      case RUNS -> new RunKvIndex(IndexLimits.unbounded(ORPHANS_PER_ENGINE));
      case PLAIN -> new PlainKvIndex(ORPHANS_PER_ENGINE);
    };
  }
}
