package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.demo.LoadReport.Predictions;
import dev.warmpath.simulator.study.Distribution;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LoadReportTest {

  @Test
  void countsTokensAndComparesPredictions() {
    LoadReport report =
        LoadReport.of(
            List.of(
                reply("a", 100, 80, 80, 10),
                reply("a", 100, 0, 16, 30),
                reply("b", 100, 32, 16, 20),
                reply("b", 100, 32, -1, 40),
                ChatReply.failed("status 503")));

    assertThat(report.requests()).isEqualTo(5);
    assertThat(report.errors()).isEqualTo(1);
    assertThat(report.hitRate()).isEqualTo(0.36);
    assertThat(report.failures()).isEqualTo(Map.of("status 503", 1));
    assertThat(report.firstTokenMillis()).isEqualTo(new Distribution(25, 20, 40, 40));
    assertThat(report.tokenMillis()).isEqualTo(2.5);
    assertThat(report.perReplica()).isEqualTo(Map.of("a", 2, "b", 2));
    assertThat(report.prediction()).isEqualTo(new Predictions(3, 1, 1));
  }

  @Test
  void aRunWithoutRepliesHasNoTimes() {
    LoadReport report = LoadReport.of(List.of(ChatReply.failed("status 503")));

    assertThat(report.errors()).isEqualTo(1);
    assertThat(report.hitRate()).isZero();
    assertThat(report.firstTokenMillis().p99()).isNaN();
  }

  private static ChatReply reply(
      String replica, int prompt, int cached, int predicted, double millis) {
    return new ChatReply(replica, prompt, cached, predicted, millis, millis / 10, "text", null);
  }
}
