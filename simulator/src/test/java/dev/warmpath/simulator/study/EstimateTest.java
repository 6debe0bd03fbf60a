package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class EstimateTest {

  @Test
  void meanAndItsInterval() {
    Estimate three = Estimate.of(1, 2, 6);
    assertThat(three.mean()).isEqualTo(3);
    assertThat(three.confidence()) // s² = (4 + 1 + 9) / 2, t of 2 degrees of freedom
        .isCloseTo(4.303 * Math.sqrt(7.0 / 3), within(1e-9));
    Estimate two = Estimate.of(10, 12);
    assertThat(two.confidence()).isCloseTo(12.706, within(1e-9));
    double[] many = IntStream.range(0, 100).mapToDouble(i -> i % 2).toArray();
    assertThat(Estimate.of(many).confidence())
        .isCloseTo(2 * Math.sqrt(25.0 / 99 / 100), within(1e-9));
  }

  @Test
  void oneSeedHasNoInterval() {
    Estimate one = Estimate.of(5);
    assertThat(one.mean()).isEqualTo(5);
    assertThat(one.confidence()).isNaN();
    assertThat(one.margin()).isZero();
    assertThat(one.overlaps(Estimate.of(5))).isTrue();
    assertThat(one.overlaps(Estimate.of(5.1))).isFalse();
  }

  @Test
  void intervalsOverlapIfTheyTouch() {
    Estimate low = new Estimate(10, 2);
    assertThat(low.overlaps(new Estimate(13, 1))).isTrue();
    assertThat(low.overlaps(new Estimate(13, 0.9))).isFalse();
    assertThat(new Estimate(13, 1).overlaps(low)).isTrue();
  }
}
