package dev.warmpath.kvindex.measure;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.plain.PlainKvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;

/** The indexes that are measured. Immutable. */
public enum MeasuredIndex {
  RUNS,
  PLAIN;

  KvIndex create() {
    return this == RUNS ? new RunKvIndex(IndexLimits.unbounded(1024)) : new PlainKvIndex(1024);
  }
}
