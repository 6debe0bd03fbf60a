package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.fleet.Change;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.Pairs;
import dev.warmpath.simulator.fleet.Routers;
import dev.warmpath.simulator.study.Study.CellFigures;
import dev.warmpath.simulator.trace.Trace;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StudyTest {

  private static final Trace CHATS =
      Chats.trace("{\"seconds\": 60, \"sessions\": 120, \"think\": 5, \"turns\": 3}");

  private static final Trace QUESTIONS =
      Chats.trace("{\"seconds\": 60, \"sessions\": 300, \"turns\": 1}");

  @Test
  void theSameFiguresWhateverTheNumberOfThreads() throws Exception {
    List<CellFigures> one = study(1, 0.1, List.of(20.0), false).run();
    List<CellFigures> four = study(4, 0.1, List.of(20.0), false).run();
    assertThat(four).isEqualTo(one);
    assertThat(one.get(0).runs()).hasSize(2);
    assertThat(one.get(0).runs().get(0)).as("seeds differ").isNotEqualTo(one.get(0).runs().get(1));
  }

  @Test
  void combinesEverythingInOrder() throws Exception {
    Study study = study(2, 0.1, List.of(1.0, 2.0), false).study;
    List<Cell> cells = study.cells((done, all) -> {});
    assertThat(cells).hasSize(2 * 2 * 2).doesNotHaveDuplicates();
    assertThat(cells.get(0))
        .isEqualTo(new Cell("chats", 2, 100_000, Double.NaN, 1, IndexMode.NOW, "warm"));
    assertThat(cells.get(1).policy()).isEqualTo("random");
    assertThat(cells.get(7).setting()).isEqualTo("chats, 3 × 100k tokens, rate 2.00, index exact");
    assertThat(study.requests(cells)).isEqualTo(8L * 2 * CHATS.requests());
  }

  @Test
  void loadsAreSharesOfTheKnee() throws Exception {
    Study study = study(QUESTIONS, 2, 0.1, List.of(0.5, 1.0), true).study;
    List<Long> shown = Collections.synchronizedList(new ArrayList<>());
    List<Cell> cells = study.cells((done, all) -> shown.add(10 * all + done));
    assertThat(shown).containsExactlyInAnyOrder(21L, 22L);
    Cell half = cells.get(0);
    Cell knee = cells.get(2);
    assertThat(half.load()).isEqualTo(0.5);
    assertThat(knee.load()).isEqualTo(1);
    assertThat(half.rate()).isEqualTo(knee.rate() / 2);
    Cell larger = cells.get(6);
    assertThat(larger.replicas()).isEqualTo(3);
    assertThat(larger.rate()).as("three replicas bear more than two").isGreaterThan(knee.rate());
  }

  @Test
  void aFleetThatServesNothingHasNoKnee() {
    Study study =
        new Study(
            CHATS,
            new Study.Grid(
                List.of("random"),
                List.of(1),
                List.of(32L),
                List.of(1.0),
                true,
                List.of(IndexMode.NOW)),
            new Study.Runs(1, 1, 1, 0.1, StepCost.H100X4, 0));
    assertThatThrownBy(() -> study.cells((done, all) -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 × 32 tokens");
  }

  @Test
  void leavesOutTheWarmUpAndBoundsWhatPoliciesCanHit() throws Exception {
    List<CellFigures> all = study(2, 0, List.of(20.0), false).run();
    List<CellFigures> late = study(2, 0.5, List.of(20.0), false).run();
    assertThat(all.get(0).runs().get(0).requests()).isEqualTo(CHATS.requests());
    assertThat(late.get(0).runs().get(0).requests()).isBetween(1, CHATS.requests() - 1);
    for (CellFigures cell : all) {
      assertThat(cell.oracles()).hasSize(2);
      assertThat(cell.oracle(Oracle::infiniteHitRate))
          .isGreaterThanOrEqualTo(cell.oracle(Oracle::poolHitRate))
          .isGreaterThan(cell.mean(RunFigures::hitRate));
    }
    assertThat(all.get(1).oracles()).as("of the same setting").isEqualTo(all.get(0).oracles());
  }

  @Test
  void aHostTierRaisesHitsWhereTheCacheIsTight() throws Exception {
    Study study =
        new Study(
            CHATS,
            new Study.Grid(
                List.of("warm"),
                List.of(2),
                List.of(20_000L, 1_000_000L),
                List.of(0L, 200_000L),
                List.of(4.0),
                false,
                List.of(IndexMode.NOW),
                List.of(Routers.ONE),
                List.of(Pairs.NONE),
                List.of(Change.NONE)),
            new Study.Runs(1, 2, 2, 0.1, StepCost.H100X4, 0));
    List<CellFigures> cells = new Run(study).run();
    assertThat(cells)
        .extracting(cell -> cell.cell().fleet())
        .containsExactly(
            "2 × 20k tokens",
            "2 × 20k tokens + 200k on the host",
            "2 × 1M tokens",
            "2 × 1M tokens + 200k on the host");
    double tight = cells.get(0).mean(RunFigures::hitRate);
    double tiered = cells.get(1).mean(RunFigures::hitRate);
    assertThat(tiered).isGreaterThan(tight + 0.1);
    assertThat(cells.get(0).mean(RunFigures::hostHitRate)).isZero();
    assertThat(cells.get(1).mean(RunFigures::hostHitRate)).isBetween(0.1, tiered);
    assertThat(cells.get(1).estimate(Figure.TTFT_MEAN).mean())
        .isLessThan(cells.get(0).estimate(Figure.TTFT_MEAN).mean());
    assertThat(cells.get(3).runs()).as("the GPU holds all").isEqualTo(cells.get(2).runs());
  }

  @Test
  void countsRequestsUpToAll() throws Exception {
    Run run = study(2, 0.1, List.of(20.0), false);
    List<Long> shown = Collections.synchronizedList(new ArrayList<>());
    List<Cell> cells = run.study.cells((done, all) -> {});
    run.study.run(cells, (done, all) -> shown.add(all - done));
    assertThat(Collections.min(shown)).isZero();
  }

  @Test
  void refusesMoreCopiesThanCanBeCounted() {
    assertThatThrownBy(() ->
            new Study(
                CHATS,
                new Study.Grid(
                    List.of("random"),
                    List.of(1),
                    List.of(1000L),
                    List.of(1.0),
                    false,
                    List.of(IndexMode.NOW)),
                new Study.Runs(10_000_000, 1, 1, 0.1, StepCost.H100X4, 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("10000000 copies");
  }

  private record Run(Study study) {
    List<CellFigures> run() throws InterruptedException {
      return study.run(study.cells((done, all) -> {}), (done, all) -> {});
    }
  }

  private static Run study(int threads, double warmUp, List<Double> rates, boolean ofKnee) {
    return study(CHATS, threads, warmUp, rates, ofKnee);
  }

  private static Run study(
      Trace trace, int threads, double warmUp, List<Double> rates, boolean ofKnee) {
    return new Run(
        new Study(
            trace,
            new Study.Grid(
                List.of("warm", "random"),
                List.of(2, 3),
                List.of(100_000L),
                rates,
                ofKnee,
                List.of(IndexMode.NOW)),
            new Study.Runs(1, 2, threads, warmUp, StepCost.H100X4, 0)));
  }
}
