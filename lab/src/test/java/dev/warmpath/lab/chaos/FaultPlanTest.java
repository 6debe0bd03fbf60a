package dev.warmpath.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.lab.chaos.ChaosEngine.EngineFault;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FaultPlanTest {

  @Test
  void theSameSeedGivesTheSameFaults() {
    List<ChaosRun.FaultPlan> plans = ChaosRun.FaultPlan.between(5_000, 60_000, 3, new Random(4));
    assertThat(ChaosRun.FaultPlan.between(5_000, 60_000, 3, new Random(4))).isEqualTo(plans);
    assertThat(ChaosRun.FaultPlan.between(5_000, 60_000, 3, new Random(5))).isNotEqualTo(plans);
  }

  @Test
  void anEnginesFaultsFollowEachOtherAndHealInTime() {
    for (ChaosRun.FaultPlan plan : ChaosRun.FaultPlan.between(5_000, 60_000, 3, new Random(4))) {
      assertThat(plan.faults()).hasSizeGreaterThan(5);
      long healed = 5_000;
      for (ChaosRun.FaultPlan.Timed timed : plan.faults()) {
        assertThat(timed.fromMillis()).isGreaterThanOrEqualTo(healed);
        assertThat(timed.toMillis()).isGreaterThan(timed.fromMillis());
        healed = timed.toMillis();
      }
      assertThat(healed).isLessThanOrEqualTo(60_000);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void aShortRunSeesEveryKind(long seed) {
    assertThat(ChaosRun.FaultPlan.between(11_500, 20_000, 3, new Random(seed)))
        .flatExtracting(ChaosRun.FaultPlan::faults)
        .extracting(ChaosRun.FaultPlan.Timed::fault)
        .contains(EngineFault.values());
  }
}
