package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DistributionTest {

  @Test
  void percentilesAreValuesThatWereMeasured() {
    double[] values = IntStream.rangeClosed(1, 200).mapToDouble(i -> 201 - i).toArray();
    assertThat(Distribution.of(values)).isEqualTo(new Distribution(100.5, 100, 180, 198));
  }

  @Test
  void noValuesHaveNoFigures() {
    assertThat(Distribution.of(new double[0]).p50()).isNaN();
    assertThat(Distribution.of(new double[0]).mean()).isNaN();
  }
}
