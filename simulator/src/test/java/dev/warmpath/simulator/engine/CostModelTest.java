package dev.warmpath.simulator.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class CostModelTest {

  private final StepWork work = new StepWork();

  @Test
  void polynomialTakesPromptsTogetherAndDecodesByTheUseOfTheCache() {
    work.begin(0.5);
    assertThat(CostModel.PolynomialCost.DYNAMO.stepMillis(work)).isZero();
    work.prefill(600, 0);
    work.prefill(400, 1000);
    assertThat(CostModel.PolynomialCost.DYNAMO.stepMillis(work))
        .isCloseTo(0.4209989 + 15.18344 + 16.50142, within(1e-9));
    work.decode(3, 5000);
    assertThat(CostModel.PolynomialCost.DYNAMO.stepMillis(work))
        .isCloseTo(0.4209989 + 15.18344 + 16.50142 + 26.31, within(1e-9));
  }

  @Test
  void decodingTakesAtLeastItsMinimum() {
    CostModel.PolynomialCost.Parabola nothing = new CostModel.PolynomialCost.Parabola(0, 0, 0);
    work.begin(0.5);
    work.decode(1, 100);
    assertThat(new CostModel.PolynomialCost(nothing, nothing, 1).stepMillis(work)).isEqualTo(1);
  }

  @Test
  void proportionalCostAddsUp() {
    work.begin(0.5);
    work.prefill(100, 50);
    work.decode(2, 30);
    assertThat(new StepCost(10, 1, 0.5, 0.25).stepMillis(work))
        .isEqualTo(10 + 100 + 0.5 * 100 * 100 + 0.25 * 30);
  }
}
