package dev.warmpath.simulator.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class EstimateTest {

  /** Four runs: deviation 1.291, t of three degrees of freedom 3.182. */
  @Test
  void intervalIsThatOfStudentsDistribution() {
    Estimate estimate = Estimate.of(new double[] {1, 2, 3, 4});
    assertThat(estimate.mean()).isEqualTo(2.5);
    assertThat(estimate.halfWidth()).isCloseTo(3.182 * 1.29099 / 2, within(1e-4));
  }

  @Test
  void oneRunHasNoInterval() {
    assertThat(Estimate.of(new double[] {7}).mean()).isEqualTo(7);
    assertThat(Estimate.of(new double[] {7}).halfWidth()).isNaN();
    assertThat(Estimate.of(new double[0]).mean()).isNaN();
  }
}
