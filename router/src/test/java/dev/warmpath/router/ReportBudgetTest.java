package dev.warmpath.router;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ReportBudgetTest {

  private final AtomicLong nanos = new AtomicLong(17);
  private final ReportBudget budget = new ReportBudget(3, nanos::get);

  @Test
  void givesSoManyAMinute() {
    assertThat(taken(10)).isEqualTo(3);
    nanos.addAndGet(21_000_000_000L);
    assertThat(taken(10)).isEqualTo(1);
    nanos.addAndGet(600_000_000_000L);
    assertThat(taken(10)).as("what was not taken is not saved").isEqualTo(3);
  }

  private int taken(int asked) {
    int taken = 0;
    for (int i = 0; i < asked; i++) {
      taken += budget.take() ? 1 : 0;
    }
    return taken;
  }
}
