package dev.warmpath.lab.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.lab.index.ChurnBench.Interval;
import dev.warmpath.lab.index.ChurnBench.Plan;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ChurnBenchTest {

  private static final long MAX_BYTES = 2 << 20;

  private final AtomicLong steps = new AtomicLong();

  @Test
  void staysAtItsBudgetAndCreditsNothingThatIsNotHeld() {
    ChurnBench bench = new ChurnBench(new Plan(MAX_BYTES, 4, 40_000), steps::incrementAndGet);

    List<Interval> intervals = bench.run(3, 4_000, interval -> {});

    assertThat(intervals).hasSize(3);
    for (Interval interval : intervals) {
      assertThat(interval.totals().bytes()).isBetween(MAX_BYTES / 2, MAX_BYTES);
      assertThat(interval.overCredits()).isZero();
    }
    long before = intervals.get(1).totals().evictedBlocks();
    assertThat(before).isPositive();
    assertThat(intervals.get(2).totals().evictedBlocks()).isGreaterThan(before);
  }

  @Test
  void evictsNothingWhereAllFits() {
    ChurnBench bench = new ChurnBench(new Plan(64 << 20, 2, 10_000), steps::incrementAndGet);

    Interval interval = bench.run(1, 1_000, ignored -> {}).get(0);

    assertThat(interval.totals().evictedBlocks()).isZero();
    assertThat(interval.overCredits()).isZero();
  }
}
