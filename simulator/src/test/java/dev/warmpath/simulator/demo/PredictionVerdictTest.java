package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class PredictionVerdictTest {

  @Test
  void comparesPredictionAndTruth() {
    assertThat(PredictionVerdict.of(reply(96, 96), false)).isEqualTo(PredictionVerdict.EXACT);
    assertThat(PredictionVerdict.of(reply(64, 96), false)).isEqualTo(PredictionVerdict.UNDER);
    assertThat(PredictionVerdict.of(reply(128, 96), false)).isEqualTo(PredictionVerdict.OVER);
  }

  @Test
  void anEvictionExcusesOnlyAPromiseThatWasTooHigh() {
    assertThat(PredictionVerdict.of(reply(128, 96), true)).isEqualTo(PredictionVerdict.EVICTED);
    assertThat(PredictionVerdict.of(reply(64, 96), true)).isEqualTo(PredictionVerdict.UNDER);
    assertThat(PredictionVerdict.of(reply(96, 96), true)).isEqualTo(PredictionVerdict.EXACT);
  }

  @Test
  void judgesOnlyWhatBothSidesSay() {
    assertThat(PredictionVerdict.of(reply(-1, 96), false)).isEqualTo(PredictionVerdict.UNJUDGED);
    assertThat(PredictionVerdict.of(reply(96, -1), false)).isEqualTo(PredictionVerdict.UNJUDGED);
    ChatReply failed = new ChatReply(null, 0, -1, -1, -1, Double.NaN, "", "status 503");
    assertThat(PredictionVerdict.of(failed, true)).isEqualTo(PredictionVerdict.FAILED);
  }

  private static ChatReply reply(int predicted, int cached) {
    return new ChatReply("a", 200, cached, predicted, 1.0, 1.0, "text", null);
  }
}
