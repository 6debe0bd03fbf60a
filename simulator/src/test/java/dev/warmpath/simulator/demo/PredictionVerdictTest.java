package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class PredictionVerdictTest {

  @Test
  void comparesPredictionAndTruth() {
    assertThat(LiveCheck.PredictionVerdict.of(reply(96, 96), false))
        .isEqualTo(LiveCheck.PredictionVerdict.EXACT);
    assertThat(LiveCheck.PredictionVerdict.of(reply(64, 96), false))
        .isEqualTo(LiveCheck.PredictionVerdict.UNDER);
    assertThat(LiveCheck.PredictionVerdict.of(reply(128, 96), false))
        .isEqualTo(LiveCheck.PredictionVerdict.OVER);
  }

  @Test
  void anEvictionExcusesOnlyAPromiseThatWasTooHigh() {
    assertThat(LiveCheck.PredictionVerdict.of(reply(128, 96), true))
        .isEqualTo(LiveCheck.PredictionVerdict.EVICTED);
    assertThat(LiveCheck.PredictionVerdict.of(reply(64, 96), true))
        .isEqualTo(LiveCheck.PredictionVerdict.UNDER);
    assertThat(LiveCheck.PredictionVerdict.of(reply(96, 96), true))
        .isEqualTo(LiveCheck.PredictionVerdict.EXACT);
  }

  @Test
  void judgesOnlyWhatBothSidesSay() {
    assertThat(LiveCheck.PredictionVerdict.of(reply(-1, 96), false))
        .isEqualTo(LiveCheck.PredictionVerdict.UNJUDGED);
    assertThat(LiveCheck.PredictionVerdict.of(reply(96, -1), false))
        .isEqualTo(LiveCheck.PredictionVerdict.UNJUDGED);
    ChatReply failed = new ChatReply(null, 0, -1, -1, -1, Double.NaN, "", "status 503");
    assertThat(LiveCheck.PredictionVerdict.of(failed, true))
        .isEqualTo(LiveCheck.PredictionVerdict.FAILED);
  }

  private static ChatReply reply(int predicted, int cached) {
    return new ChatReply("a", 200, cached, predicted, 1.0, 1.0, "text", null);
  }
}
