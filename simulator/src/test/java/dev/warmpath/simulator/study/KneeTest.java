package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.study.Study.Knee;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class KneeTest {

  /** The knee is found from below, within a twentieth. */
  private static void assertKnee(double knee, double found) {
    assertThat(found).isBetween(0.95 * knee, knee);
  }

  @Test
  void isWhereTheMeanIsFourTimesThatOfALightLoad() {
    // 100 ms at rest, as a queue that is full at a rate of 8: four times as much at 6
    assertKnee(6, Knee.rate(rate -> 100 / Math.max(1e-9, 1 - rate / 8)).orElseThrow());
  }

  @Test
  void aFleetThatIsFullAtAFractionOfTheRecordedRateHasOneToo() {
    assertKnee(0.003, Knee.rate(rate -> rate <= 0.003 ? 100 : 1e6).orElseThrow());
  }

  @Test
  void aStepIsFoundWithFewRuns() {
    List<Double> rates = new ArrayList<>();
    double found =
        Knee.rate(
                rate -> {
                  rates.add(rate);
                  return rate <= 37 ? 5 : 500;
                })
            .orElseThrow();
    assertKnee(37, found);
    assertThat(rates).hasSizeLessThan(20).doesNotHaveDuplicates();
  }

  @Test
  void thereIsNoneIfNothingWaitsOrNothingIsAnswered() {
    assertThat(Knee.rate(rate -> 100)).isEmpty();
    assertThat(Knee.rate(rate -> Double.NaN)).isEmpty();
  }
}
