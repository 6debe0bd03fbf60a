package dev.warmpath.simulator.bench.index;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.plain.PlainKvIndex;

/** The indexes that can be measured. Immutable. */
public enum IndexChoice {
  /** Hash maps. */
  PLAIN;

  private static final int ORPHANS_PER_ENGINE = 1 << 16;

  /** An empty index. */
  public KvIndex create() {
    return switch (this) {
      case PLAIN -> new PlainKvIndex(ORPHANS_PER_ENGINE);
    };
  }
}
