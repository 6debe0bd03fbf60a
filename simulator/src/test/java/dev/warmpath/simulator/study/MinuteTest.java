package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.fleet.MadeMeasures;
import dev.warmpath.simulator.fleet.Measures;
import java.util.List;
import org.junit.jupiter.api.Test;

final class MinuteTest {

  private static final Measures RUN =
      new MadeMeasures(7)
          .answered(59.9, 100, 0, 0, 0, 7, 0)
          .answered(60, 100, 0, 0, 50, 10, 0)
          .answered(119.9, 300, 0, 0, 50, 30, 0)
          .rejected(100, 100)
          .missing()
          .answered(120, 100, 0, 0, 0, 50, 0)
          .answered(720, 100, 0, 0, 0, 99, 0)
          .done();

  @Test
  void eachHasWhatArrivedInIt() {
    List<RunFigures.Minute> minutes = RunFigures.Minute.of(RUN, Window.afterChange(120));
    assertThat(minutes)
        .extracting(RunFigures.Minute::minute)
        .containsExactly(-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThat(minutes)
        .extracting(RunFigures.Minute::requests)
        .containsExactly(1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    RunFigures.Minute before = minutes.get(1);
    assertThat(before.ttftMillis().mean()).isEqualTo(20);
    assertThat(before.ttftMillis().p99()).isEqualTo(30);
    assertThat(before.hitRate()).isEqualTo(0.25);
    assertThat(minutes.get(3).ttftMillis().mean()).isNaN();
    assertThat(minutes.get(3).hitRate()).isNaN();
  }

  @Test
  void thereAreFiveBeforeAChangeAndNoneWithoutOne() {
    assertThat(RunFigures.Minute.of(RUN, Window.afterChange(719)).get(0).minute()).isEqualTo(-5);
    assertThat(RunFigures.Minute.of(RUN, Window.from(0))).isEmpty();
  }
}
