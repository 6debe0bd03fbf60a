package dev.warmpath.router.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PrefillRatioTest {

  private static final long BEGIN = -TimeUnit.MINUTES.toNanos(90);

  private final PrefillRatio ratio = new PrefillRatio();

  @Test
  void eachModelHasItsOwn() {
    add("a", 50, 300, 100, 0);
    add("b", 50, 10, 40, 1);
    add("c", 49, 10, 40, 1);
    assertThat(ratio.byModel(at(2))).isEqualTo(Map.of("a", 3.0, "b", 0.25));
  }

  @Test
  void itIsThatOfTheLastHour() {
    add("a", 50, 400, 100, 0);
    add("a", 50, 200, 100, 30);
    assertThat(ratio.byModel(at(59))).isEqualTo(Map.of("a", 3.0));
    assertThat(ratio.byModel(at(60))).isEqualTo(Map.of("a", 2.0));
    assertThat(ratio.byModel(at(89))).isEqualTo(Map.of("a", 2.0));
    assertThat(ratio.byModel(at(90))).isEmpty();
    add("a", 50, 100, 100, 1_000_000);
    assertThat(ratio.byModel(at(1_000_000))).isEqualTo(Map.of("a", 1.0));
  }

  @Test
  void noAnswersShowNothing() {
    add("a", 60, 1, 0, 0);
    assertThat(ratio.byModel(at(0))).isEmpty();
  }

  private static long at(int minute) {
    return BEGIN + TimeUnit.MINUTES.toNanos(minute);
  }

  private void add(String model, int times, double prompt, double answer, int minute) {
    for (int i = 0; i < times; i++) {
      ratio.add(model, prompt, answer, at(minute));
    }
  }
}
