package dev.warmpath.router.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class PrefillCostTest {

  private final PrefillCost cost = new PrefillCost(0.1, 0.001);

  @Test
  void isTheFormula() {
    // 0.1·200 + 0.001·200·(1000 − 100)
    assertThat(cost.millis(200, 1000)).isEqualTo(20 + 180, within(1e-9));
  }

  @Test
  void aPromptThatIsAllCachedCostsNothing() {
    assertThat(cost.millis(0, 100_000)).isZero();
  }

  @Test
  void twoHalvesCostWhatTheWholeDoes() {
    double first = cost.millis(600, 600);
    double second = cost.millis(400, 1000);
    assertThat(first + second).isEqualTo(cost.millis(1000, 1000), within(1e-9));
  }

  @Test
  void refusesWhatIsNoCost() {
    assertThatThrownBy(() -> new PrefillCost(Double.NaN, 0)).hasMessage("millisPerToken=NaN");
    assertThatThrownBy(() -> new PrefillCost(0, -1)).hasMessage("millisPerTokenPair=-1.0");
  }
}
