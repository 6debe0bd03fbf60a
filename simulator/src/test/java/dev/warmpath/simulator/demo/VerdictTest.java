package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class VerdictTest {

  @Test
  void comparesPredictionAndTruth() {
    assertThat(Verdict.of(reply(96, 96), false)).isEqualTo(Verdict.EXACT);
    assertThat(Verdict.of(reply(64, 96), false)).isEqualTo(Verdict.UNDER);
    assertThat(Verdict.of(reply(128, 96), false)).isEqualTo(Verdict.OVER);
  }

  @Test
  void anEvictionExcusesOnlyAPromiseThatWasTooHigh() {
    assertThat(Verdict.of(reply(128, 96), true)).isEqualTo(Verdict.EVICTED);
    assertThat(Verdict.of(reply(64, 96), true)).isEqualTo(Verdict.UNDER);
    assertThat(Verdict.of(reply(96, 96), true)).isEqualTo(Verdict.EXACT);
  }

  @Test
  void judgesOnlyWhatBothSidesSay() {
    assertThat(Verdict.of(reply(-1, 96), false)).isEqualTo(Verdict.UNJUDGED);
    assertThat(Verdict.of(reply(96, -1), false)).isEqualTo(Verdict.UNJUDGED);
    ChatReply failed = new ChatReply(null, 0, -1, -1, -1, Double.NaN, "", "status 503");
    assertThat(Verdict.of(failed, true)).isEqualTo(Verdict.FAILED);
  }

  private static ChatReply reply(int predicted, int cached) {
    return new ChatReply("a", 200, cached, predicted, 1.0, 1.0, "text", null);
  }
}
