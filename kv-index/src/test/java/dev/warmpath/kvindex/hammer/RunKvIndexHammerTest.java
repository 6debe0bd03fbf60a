package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;

/** The run index while it is written and read. */
class RunKvIndexHammerTest extends Hammering<RunKvIndex> {

  RunKvIndexHammerTest() {
    super(
        maxOrphans -> new RunKvIndex(IndexLimits.unbounded(maxOrphans), 1),
        RunKvIndex::unansweredQueries,
        false,
        500_000);
  }
}
