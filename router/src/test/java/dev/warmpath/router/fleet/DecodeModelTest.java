package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.router.routing.DecodeCost;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DecodeModelTest {

  private final DecodeModel model = new DecodeModel();
  private final SplittableRandom random = new SplittableRandom(5);

  private static final DecodeCost SLOW = new DecodeCost(45, 1e-4);

  /** A stream among others, while prompts take so many milliseconds. */
  private void stream(DecodeCost truth, double promptMillis, double factor) {
    int steps = 50 + random.nextInt(400);
    long context = 20_000 + random.nextInt(400_000);
    double millis = steps * truth.millis(context) + promptMillis;
    model.observe(factor * millis, steps, context, promptMillis);
  }

  @Test
  void findsWhatAStepTakesAndWhatContextAdds() {
    for (int i = 0; i < 4_000; i++) {
      stream(SLOW, 1_000 * random.nextDouble(), 1);
    }
    assertThat(model.cost().stepMillis()).isCloseTo(45, within(4.0));
    assertThat(model.cost().contextMillis()).isCloseTo(1e-4, within(2e-5));
  }

  @Test
  void promptsThatAreComputedMeanwhileMakeNoStepLonger() {
    for (int i = 0; i < 500; i++) {
      stream(DecodeCost.DEFAULT, 20_000, 1);
    }
    assertThat(model.cost().stepMillis()).isCloseTo(15, within(0.1));
  }

  /** A client that reads slowly, or one whose stream came all at once. */
  @Test
  void aFewStreamsThatAreFarOffTeachLittle() {
    for (int i = 0; i < 500; i++) {
      stream(DecodeCost.DEFAULT, 0, i % 10 == 0 ? 1_000 : 1);
    }
    assertThat(model.cost().stepMillis()).isBetween(14.0, 20.0);
  }

  @Test
  void staysWithinItsBounds() {
    for (int i = 0; i < 1_000; i++) {
      model.observe(1e12, 16, 100_000, 0);
    }
    assertThat(model.cost().millis(0)).isCloseTo(1_500, within(1e-6));
    for (int i = 0; i < 3_000; i++) {
      model.observe(1e-6, 1_000, 100_000, 0);
    }
    assertThat(model.cost().stepMillis()).isCloseTo(0.15, within(1e-6));
  }

  @Test
  void nothingIsLearnedOfAFewSteps() {
    model.observe(100, 0, 0, 0);
    model.observe(100_000, 15, 0, 0);
    model.observe(0, 500, 0, 0);
    assertThat(model.cost()).isEqualTo(DecodeCost.DEFAULT);
  }
}
