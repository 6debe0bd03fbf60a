package dev.warmpath.eventingest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class VisibleTimesTest {

  @Test
  void countsEachTimeInTheBucketThatItFits() {
    VisibleTimes times = new VisibleTimes();
    times.add(0);
    times.add(50_000);
    times.add(50_001);
    times.add(60_000_000_000L);

    assertThat(times.boundSeconds(0)).isEqualTo(50e-6);
    assertThat(times.count(0)).isEqualTo(2);
    assertThat(times.count(1)).isEqualTo(1);
    assertThat(times.boundSeconds(times.buckets() - 1)).isInfinite();
    assertThat(times.count(times.buckets() - 1)).isEqualTo(1);
    assertThat(times.sumSeconds()).isEqualTo(60.000100001);
    for (int i = 1; i < times.buckets(); i++) {
      assertThat(times.boundSeconds(i)).isGreaterThan(times.boundSeconds(i - 1));
    }
  }
}
