package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.simulator.fleet.MadeMeasures;
import dev.warmpath.simulator.fleet.Measures;
import dev.warmpath.simulator.fleet.Workload;
import dev.warmpath.simulator.study.RunFigures.Goal;
import dev.warmpath.simulator.study.Study.CellFigures;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import org.junit.jupiter.api.Test;

final class RunFiguresTest {

  private static final Goal GOAL = new Goal(1000, 50);

  @Test
  void addsUpWhatWasAnswered() {
    Measures run =
        new MadeMeasures(6)
            .answered(0, 100, 0, 0, 0, 99_999, 99) // while caches fill
            .answered(10, 400, 0, 100, 100, 500, 40)
            .answered(20, 600, 1, 500, 300, 1500, 20)
            .answered(50, 1000, 1, -1, 0, 1000, Double.NaN)
            .rejected(100, 64)
            .missing()
            .done();
    RunFigures figures = of(run, 2, RunFigures.countedFromSeconds(run, 0.1));
    assertThat(figures.requests()).isEqualTo(4);
    assertThat(figures.rejected()).isEqualTo(1);
    assertThat(figures.ttftMillis()).isEqualTo(new Distribution(1000, 1000, 1500, 1500));
    assertThat(figures.tpotMillis()).as("of those with two tokens").isEqualTo(30);
    assertThat(figures.hitRate()).isEqualTo(400.0 / 2000);
    assertThat(figures.hostHitRate()).isEqualTo(100.0 / 2000);
    assertThat(figures.goodput()).as("the first and the third of four").isEqualTo(0.5);
    assertThat(figures.imbalance()).isEqualTo(1300 / 800.0);
    assertThat(figures.predictedMinusActual()).isEqualTo(100);
    assertThat(figures.spanSeconds()).isEqualTo(51 - 10);
  }

  @Test
  void percentilesAreTheLeastValuesThatSoManyDoNotExceed() {
    MadeMeasures run = new MadeMeasures(100);
    for (int i = 100; i > 0; i--) {
      run.answered(0, 1, 0, 0, 0, i, 1);
    }
    RunFigures figures = of(run.done(), 1, 0);
    assertThat(figures.ttftMillis()).isEqualTo(new Distribution(50.5, 50, 90, 99));
  }

  @Test
  void nothingAnsweredHasNoTimes() {
    Measures run = new MadeMeasures(1).rejected(5, 10).done();
    RunFigures figures = of(run, 1, 0);
    assertThat(figures.ttftMillis().mean()).isNaN();
    assertThat(figures.rejected()).isEqualTo(1);
    assertThat(figures.hitRate()).isZero();
    assertThat(figures.goodput()).isZero();
  }

  @Test
  void cellsAreMeansOverSeeds() {
    CellFigures cell =
        new CellFigures(
            Cells.cell("warm"),
            java.util.List.of(figures(100), figures(300)),
            java.util.List.of(new Oracle(0.5, 0.25), new Oracle(0.75, 0.5)));
    assertThat(cell.estimate(Figure.TTFT_MEAN).mean()).isEqualTo(200);
    assertThat(cell.estimate(Figure.TTFT_MEAN).confidence()).isCloseTo(1270.6, within(1e-9));
    assertThat(cell.estimate(Figure.HIT_RATE)).isEqualTo(new Estimate(0, 0));
    assertThat(cell.oracle(Oracle::infiniteHitRate)).isEqualTo(0.625);
    assertThat(cell.oracle(Oracle::poolHitRate)).isEqualTo(0.375);
  }

  @Test
  void countsSessionsThatEndWhileOthersBegin() {
    TraceBuilder trace = new TraceBuilder("sessions", 16);
    for (int session = 0; session < 3; session++) {
      trace.request(10 * session, Trace.NONE, session, 1, 1).request(1, 2 * session, session, 1, 1);
    }
    trace.request(50, Trace.NONE, 3, 1, 1);
    Measures run =
        new MadeMeasures(7)
            .answered(0, 1, 0, 0, 0, 1000, 0)
            .answered(2, 1, 0, 0, 0, 9_000, 0) // ends at 11 s
            .answered(10, 1, 0, 0, 0, 1000, 0)
            .rejected(12, 1)
            .answered(20, 1, 0, 0, 0, 1000, 0)
            .answered(22, 1, 0, 0, 0, 40_000, 0) // after the last begins
            .answered(50, 1, 0, 0, 0, 1000, 0)
            .done();
    Workload workload = new Workload(trace.build(), 1, 1, 1);
    assertThat(RunFigures.of(workload, run, 1, GOAL, Window.from(10)).sessionsPerSecond())
        .isEqualTo(1.0 / 40);
    assertThat(RunFigures.of(workload, run, 1, GOAL, Window.from(12)).sessionsPerSecond()).isZero();
  }

  private static RunFigures of(Measures run, int engines, double fromSeconds) {
    TraceBuilder trace = new TraceBuilder("singles", 16);
    for (int request = 0; request < run.requests(); request++) {
      trace.request(request, Trace.NONE, request, 1, 1);
    }
    return RunFigures.of(
        new Workload(trace.build(), 1, 1, 1), run, engines, GOAL, Window.from(fromSeconds));
  }

  private static RunFigures figures(double ttft) {
    Measures run = new MadeMeasures(1).answered(0, 1, 0, 0, 0, ttft, 1).done();
    return of(run, 1, 0);
  }
}
