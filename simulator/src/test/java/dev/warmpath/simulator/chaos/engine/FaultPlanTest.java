package dev.warmpath.simulator.chaos.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FaultPlanTest {

  @Test
  void theSameSeedGivesTheSameFaults() {
    FaultPlan plan = FaultPlan.between(5_000, 60_000, new Random(4));
    assertThat(FaultPlan.between(5_000, 60_000, new Random(4))).isEqualTo(plan);
    assertThat(FaultPlan.between(5_000, 60_000, new Random(5))).isNotEqualTo(plan);
  }

  @Test
  void faultsFollowEachOtherHealInTimeAndAreOfEachKind() {
    List<FaultPlan.Timed> faults = FaultPlan.between(5_000, 60_000, new Random(4)).faults();
    long healed = 5_000;
    for (FaultPlan.Timed timed : faults) {
      assertThat(timed.fromMillis()).isGreaterThanOrEqualTo(healed);
      assertThat(timed.toMillis()).isGreaterThan(timed.fromMillis());
      healed = timed.toMillis();
    }
    assertThat(healed).isLessThanOrEqualTo(60_000);
    assertThat(faults.subList(0, EngineFault.values().length))
        .extracting(FaultPlan.Timed::fault)
        .containsExactlyInAnyOrder(EngineFault.values());
  }
}
