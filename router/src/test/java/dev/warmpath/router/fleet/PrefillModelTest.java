package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.router.fleet.PrefillModel.PrefillPeriod;
import dev.warmpath.router.routing.PrefillCost;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrefillModelTest {

  private final PrefillModel model = new PrefillModel();
  private final SplittableRandom random = new SplittableRandom(7);

  @Test
  void beginsWithTheDefault() {
    assertThat(model.cost()).isEqualTo(PrefillCost.DEFAULT);
    assertThat(model.samples()).isZero();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.02, 0.5, 1, 3, 50})
  void findsAnEnginesSpeed(double factor) {
    PrefillCost truth = new PrefillCost(0.07 * factor, 2e-6 * factor);
    learn(truth, 15 * factor, 1000, 0.1);
    assertThat(predicted(4000)).isCloseTo(truth.millis(4000, 4000), Percentage.withPercentage(25));
  }

  @Test
  void tellsAttentionFromWorkPerToken() {
    PrefillCost truth = new PrefillCost(0.035, 8e-6);
    learn(truth, 15, 20_000, 0.05);
    assertThat(model.cost().millisPerToken()).isEqualTo(0.035, within(0.012));
    assertThat(model.cost().millisPerTokenPair()).isEqualTo(8e-6, within(2e-6));
  }

  @Test
  void aFewWildTimesChangeLittle() {
    learn(PrefillCost.DEFAULT, 15, 500, 0.05);
    double before = predicted(4000);
    for (int i = 0; i < 3; i++) {
      observe(4000, 4000, 600_000);
    }
    assertThat(predicted(4000)).isLessThan(before * 1.5);
    learn(PrefillCost.DEFAULT, 15, 500, 0.05);
    assertThat(predicted(4000)).isCloseTo(before, Percentage.withPercentage(10));
  }

  @Test
  void staysWithinItsBounds() {
    for (int i = 0; i < 10_000; i++) {
      observe(100_000, 100_000, 1e12);
    }
    assertThat(model.cost().millisPerToken()).isLessThanOrEqualTo(70.01);
    for (int i = 0; i < 10_000; i++) {
      observe(100_000, 100_000, 1e-9);
    }
    assertThat(model.cost().millisPerToken()).isGreaterThanOrEqualTo(0.0699e-3);
    assertThat(model.cost().millisPerTokenPair()).isGreaterThanOrEqualTo(1.99e-9);
  }

  @Test
  void ignoresWhatTeachesNothing() {
    observe(0, 1000, 5);
    observe(100, 1000, 0);
    observe(100, 1000, Double.NaN);
    assertThat(model.samples()).isZero();
    assertThat(model.cost()).isEqualTo(PrefillCost.DEFAULT);
  }

  private double predicted(int tokens) {
    return model.cost().millis(tokens, tokens);
  }

  private void observe(int uncached, int prompt, double millis) {
    double pairs = PrefillCost.tokenPairs(uncached, prompt);
    model.observe(new PrefillPeriod.Sample(1, uncached, pairs, millis));
  }

  private void learn(PrefillCost truth, double overheadMillis, int samples, double noise) {
    for (int i = 0; i < samples; i++) {
      int prompt = (int) Math.exp(random.nextDouble(Math.log(50), Math.log(60_000)));
      int uncached = 1 + random.nextInt(prompt);
      double exact = overheadMillis + truth.millis(uncached, prompt);
      observe(uncached, prompt, exact * (1 + noise * (2 * random.nextDouble() - 1)));
    }
  }
}
