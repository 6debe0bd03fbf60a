package dev.warmpath.lab.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.lab.gateway.LoadClient.Schedule;
import org.junit.jupiter.api.Test;

class LoadTimesTest {

  /** Due at 1000, 1100, 1200, 1300, 1400. */
  private final LoadTimes times = new LoadTimes(new Schedule(1_000, 1e9 / 100, 5));

  @Test
  void countsWaitsFromTheInstantAndServiceFromTheSend() {
    answer(0, 1_000, 5_000, 9_000);
    answer(1, 1_150, 1_170, 1_190);
    times.failed(2, "status 503");
    answer(3, 1_300, 1_305, 1_310);
    times.failed(4, "status 503");
    assertThat(times.answered(0)).isEqualTo(3);
    assertThat(times.answered(1)).isEqualTo(2);
    assertThat(times.failures(1)).containsOnlyKeys("status 503").containsEntry("status 503", 2);
    assertThat(times.sentToFirstByte(1).p99()).isEqualTo(20);
    assertThat(times.dueToFirstByte(1).p99()).isEqualTo(70);
    assertThat(times.dueToLastByte(1).p99()).isEqualTo(90);
    assertThat(times.dueToSent(1).p99()).isEqualTo(50);
    assertThat(times.sentToFirstByte(1).p50()).isEqualTo(5);
  }

  @Test
  void countsTheAnswersThatEndWithinAWindow() {
    for (int i = 0; i < 5; i++) {
      answer(i, 1_000, 1_001, 1_500 + 100L * i);
    }
    assertThat(times.answeredBetween(1_600, 1_800)).isEqualTo(2);
    assertThat(times.answeredBetween(0, 10_000)).isEqualTo(5);
  }

  private void answer(int number, long sent, long firstByte, long lastByte) {
    times.sent(number, sent);
    times.firstByte(number, firstByte);
    times.answered(number, lastByte);
  }
}
