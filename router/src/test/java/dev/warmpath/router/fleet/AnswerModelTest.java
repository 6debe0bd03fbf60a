package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.DecodeCost;
import dev.warmpath.router.routing.PrefillCost;
import dev.warmpath.router.routing.PromptBlocks;
import dev.warmpath.router.routing.RoutingRequest;
import org.junit.jupiter.api.Test;

class AnswerModelTest {

  private static final RoutingRequest REQUEST =
      new RoutingRequest(10_000, PromptBlocks.NONE, null, 0, 0, 0);

  private final AnswerModel model = new AnswerModel();

  @Test
  void idleEnginesTakeAStepForEachToken() {
    learn(600 * 15, 0, 0);
    assertThat(millis(0, 0, 0)).isEqualTo(600 * 15, within(1.0));
  }

  @Test
  void anEngineThatComputesPromptsHalfTheTimeTakesTwiceAsLong() {
    learn(600 * 15, 0.5, 0);
    assertThat(millis(0, 0, 0)).isEqualTo(300 * 15, within(1.0));
    assertThat(millis(0, 0, 0.5)).isEqualTo(600 * 15, within(1.0));
  }

  /** A client may read slowly for an hour. */
  @Test
  void oneStreamTeachesLittle() {
    learn(200 * 15, 0, 0);
    model.observe(3_600_000, 0, DecodeCost.DEFAULT, 0);
    assertThat(millis(0, 0, 0)).isBetween(200 * 15.0, 1.1 * 200 * 15);
  }

  @Test
  void contextMakesStepsLongerItsOwnAndThoseOfOthers() {
    learn(1000 * 15, 0, 0);
    double own = 15 + 3.4e-5 * 500_000;
    assertThat(millis(0, 500_000, 0)).isEqualTo(1000 * own, within(1.0));
    assertThat(millis(10, 500_000, 0)).isEqualTo(1000 * (own + 10 * 3.4e-5 * 10_000), within(1.0));
  }

  @Test
  void engineWithOtherStepsIsPricedInItsOwnTime() {
    learn(400 * 15, 0, 0);
    Candidates rows = new Candidates();
    rows.add("a", 0, PrefillCost.DEFAULT, 0).decoding(new DecodeCost(5, 0));
    assertThat(model.millis(REQUEST, rows, 0, 0)).isEqualTo(400 * 5, within(1.0));
  }

  /** 100 of them share a step; its own context each reads alone. */
  @Test
  void anAnswerTakesItsPartOfAFullEnginesSteps() {
    double token = 15 / 100.0 + 3.4e-5 * 10_000;
    assertThat(AnswerModel.fullMillis(DecodeCost.DEFAULT, 500, 10_000, 1_000_000))
        .isEqualTo(500 * token, within(1e-6));
    assertThat(AnswerModel.streams(10_000, 0)).isEqualTo(256);
    assertThat(AnswerModel.streams(2_000_000, 1_000_000)).isEqualTo(1);
  }

  private void learn(double millis, double prefillShare, long contextTokens) {
    for (int i = 0; i < 1000; i++) {
      model.observe(millis, prefillShare, DecodeCost.DEFAULT, contextTokens);
    }
  }

  private double millis(int running, long contextTokens, double prefillShare) {
    Candidates rows = new Candidates();
    rows.add("a", 0, PrefillCost.DEFAULT, Candidates.NEVER).load(running, 0, 0, 0, contextTokens);
    return model.millis(REQUEST, rows, 0, prefillShare);
  }
}
