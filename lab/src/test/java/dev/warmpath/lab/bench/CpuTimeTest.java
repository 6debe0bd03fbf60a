package dev.warmpath.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.lab.bench.ProcFiles.CpuTime;
import org.junit.jupiter.api.Test;

class CpuTimeTest {

  private static final CpuTime BEGIN = new CpuTime(1_000_000_000, 900_000_000);

  @Test
  void fineFigureCountsIfItAgreesWithTheTicks() {
    assertThat(new CpuTime(1_040_000_000, 935_500_001).nanosSince(BEGIN)).isEqualTo(35_500_001);
  }

  @Test
  void ticksCountIfThreadsHaveEnded() {
    assertThat(new CpuTime(1_500_000_000, 950_000_000).nanosSince(BEGIN)).isEqualTo(500_000_000);
    assertThat(new CpuTime(1_500_000_000, 100_000_000).nanosSince(BEGIN)).isEqualTo(500_000_000);
    assertThat(new CpuTime(1_000_000_000, 899_000_000).nanosSince(BEGIN)).isZero();
  }

  @Test
  void ticksCountIfThereIsNothingElse() {
    CpuTime end = new CpuTime(1_040_000_000, CpuTime.ABSENT);
    assertThat(end.nanosSince(BEGIN)).isEqualTo(40_000_000);
    assertThat(end.plus(BEGIN).threadNanos()).isEqualTo(CpuTime.ABSENT);
  }
}
