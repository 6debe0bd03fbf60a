package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.fleet.IndexMode;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StudyComparisonTest {

  @Test
  void dividesTheSecondByTheFirstAndMarksWhatDiffers() {
    StudyComparison comparison =
        StudyComparison.of(
            List.of(
                Reports.cell(Cells.cell("a"), 100, 1),
                Reports.cell(Cells.cell("b"), 100, 10),
                Reports.cell(Cells.cell("old"), 1, 1)),
            List.of(
                Reports.cell(Cells.cell("b"), 110, 10),
                Reports.cell(Cells.cell("new"), 1, 1),
                Reports.cell(Cells.cell("a"), 125, 1)));
    assertThat(comparison.pairs()).hasSize(2);
    assertThat(comparison.onlyInOne()).isEqualTo(2);
    assertThat(comparison.pairs().get(0).ratio(Figure.TTFT_P99)).isEqualTo(1.25);
    List<String> lines = comparison.table().lines().toList();
    assertThat(lines.get(0)).isEqualTo("chats, 4 × 100k tokens, rate 1.00, index exact");
    assertThat(lines.get(1)).contains("TTFT mean", "TTFT p90", "TTFT p99", "TPOT", "hit rate");
    assertThat(lines.get(2)).startsWith("  a ").contains("1.250*").doesNotContain("1.250 ");
    assertThat(lines.get(3)).startsWith("  b ").contains("1.100 ").doesNotContain("*");
  }

  @Test
  void worseIsSlowerByMoreThanTheShareAndBeyondConfidence() {
    StudyComparison comparison =
        StudyComparison.of(
            List.of(
                Reports.cell(Cells.cell("much"), 100, 1),
                Reports.cell(Cells.cell("little"), 100, 1),
                Reports.cell(Cells.cell("unsure"), 100, 10),
                Reports.cell(Cells.cell("faster"), 100, 1)),
            List.of(
                Reports.cell(Cells.cell("much"), 106, 1),
                Reports.cell(Cells.cell("little"), 104, 1),
                Reports.cell(Cells.cell("unsure"), 115, 10),
                Reports.cell(Cells.cell("faster"), 50, 1)));
    assertThat(comparison.worse(0.05).stream().map(pair -> pair.before().cell().policy()))
        .containsExactly("much");
    assertThat(comparison.worse(Double.POSITIVE_INFINITY)).isEmpty();
    StudyComparison.Pair faster = comparison.pairs().get(3);
    assertThat(faster.isWorse(Figure.HIT_RATE, 0.05)).as("half as many hits").isTrue();
    assertThat(faster.isWorse(Figure.TTFT_MEAN, 0.05)).isFalse();
  }

  @Test
  void theRateOfALoadMayMoveWithTheKnee() {
    Cell before = new Cell("t", 4, 64, 0.7, 1.4, IndexMode.NOW, "warm");
    Cell after = new Cell("t", 4, 64, 0.7, 1.6, IndexMode.NOW, "warm");
    Cell other = new Cell("t", 4, 64, Double.NaN, 1.4, IndexMode.NOW, "warm");
    Cell faster = new Cell("t", 4, 64, Double.NaN, 1.6, IndexMode.NOW, "warm");
    assertThat(pairs(before, after)).isOne();
    assertThat(pairs(other, faster)).isZero();
    assertThat(pairs(before, other)).isZero();
  }

  private static int pairs(Cell one, Cell two) {
    return StudyComparison.of(List.of(Reports.cell(one, 1, 1)), List.of(Reports.cell(two, 1, 1)))
        .pairs()
        .size();
  }
}
