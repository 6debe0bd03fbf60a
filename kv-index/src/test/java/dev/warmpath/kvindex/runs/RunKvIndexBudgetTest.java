package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.proof.Seeds;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The run index with so little room that it forgets most of what it hears. */
class RunKvIndexBudgetTest {

  private static final long MAX_BYTES = 330_000;

  private final AtomicLong evicted = new AtomicLong();

  @Test
  void creditsNobodyWithWhatHeDoesNotHold() {
    Seeds<RunKvIndex> seeds =
        new Seeds<>(
            maxOrphans -> new RunKvIndex(new IndexLimits(maxOrphans, MAX_BYTES), 1),
            this::check,
            UnaryOperator.identity());
    assertThat(seeds.overcredit()).isEmpty();
    assertThat(evicted.get()).isPositive();
  }

  private void check(RunKvIndex index) {
    Invariants.check(index);
    evicted.accumulateAndGet(index.evictedBlocks(), Math::max);
  }
}
