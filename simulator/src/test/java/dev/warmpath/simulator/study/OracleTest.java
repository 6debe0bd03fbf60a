package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.fleet.MadeMeasures;
import dev.warmpath.simulator.fleet.Measures;
import dev.warmpath.simulator.fleet.Workload;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import org.junit.jupiter.api.Test;

final class OracleTest {

  /* Blocks of 10 tokens; prompts end with 5 tokens that fill no block. */
  private static final Trace TRACE =
      new TraceBuilder("t", 10)
          .request(0, Trace.NONE, Trace.NONE, 25, 1)
          .blocks(1, 2)
          .request(1, Trace.NONE, Trace.NONE, 25, 1)
          .blocks(8, 2)
          .request(2, Trace.NONE, Trace.NONE, 35, 1)
          .blocks(1, 3)
          .request(3, Trace.NONE, Trace.NONE, 30, 1)
          .blocks(1, 3)
          .build();

  @Test
  void countsHitsOfOneCacheInTheOrderOfArrival() {
    Measures run =
        new MadeMeasures(4)
            .answered(0, 25, 0, 0, 0, 10, 1)
            .answered(1, 25, 0, 0, 0, 10, 1)
            .answered(2, 35, 0, 0, 0, 10, 1)
            .answered(3, 30, 0, 0, 0, 10, 1)
            .done();
    // an infinite cache hits 0, 0, 20, and 20: the last token is always computed
    assertThat(oracle(run, 2, 0)).isEqualTo(new Oracle(40.0 / 115, 40.0 / 115));
    assertThat(oracle(run, 2, 2.5)).isEqualTo(new Oracle(20.0 / 30, 20.0 / 30));
    // one of four blocks loses the end of the first prompt to the second one: 0, 0, 10, 20
    assertThat(oracle(run, 1, 0)).isEqualTo(new Oracle(40.0 / 115, 30.0 / 115));
  }

  @Test
  void leavesOutWhatWasNotAnsweredAndFollowsTheRun() {
    Measures run =
        new MadeMeasures(4)
            .rejected(0, 25)
            .answered(1, 25, 0, 0, 0, 10, 1)
            .answered(9, 35, 0, 0, 0, 10, 1) // comes last: finds 30 tokens of the next one
            .answered(3, 30, 0, 0, 0, 10, 1)
            .done();
    assertThat(oracle(run, 9, 0).infiniteHitRate()).isEqualTo(30.0 / 90);
  }

  private static Oracle oracle(Measures run, int engines, double fromSeconds) {
    KvCacheConfig four = KvCacheConfig.fullAttention(10, 5);
    return Oracle.of(new Workload(TRACE, 1, 1, 1), run, four, engines, Window.from(fromSeconds));
  }
}
