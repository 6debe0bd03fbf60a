package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class StandingTest {

  private static final List<ReportCell> CELLS =
      List.of(
          Reports.cell(Cells.cell("a"), 100, 5),
          Reports.cell(Cells.cell("b"), 109, 5),
          Reports.cell(Cells.cell("c"), 120, 5),
          Reports.cell(Cells.cell("nothing"), Double.NaN, Double.NaN));

  @Test
  void lowTimesAreGood() {
    assertStandings(
        Figure.TTFT_P90,
        HtmlPage.Standing.BEST,
        HtmlPage.Standing.NEAR,
        HtmlPage.Standing.OTHER,
        HtmlPage.Standing.OTHER);
  }

  @Test
  void highHitRatesAreGood() {
    assertStandings(
        Figure.HIT_RATE,
        HtmlPage.Standing.OTHER,
        HtmlPage.Standing.OTHER,
        HtmlPage.Standing.BEST,
        HtmlPage.Standing.OTHER);
  }

  @Test
  void predictionsHaveNoBest() {
    assertStandings(
        Figure.PREDICTED_MINUS_ACTUAL,
        HtmlPage.Standing.OTHER,
        HtmlPage.Standing.OTHER,
        HtmlPage.Standing.OTHER,
        HtmlPage.Standing.OTHER);
  }

  @Test
  void equalValuesHaveNoBest() {
    List<ReportCell> same =
        List.of(Reports.cell(Cells.cell("a"), 7, 1), Reports.cell(Cells.cell("b"), 7, 0));
    assertThat(HtmlPage.Standing.of(same.get(0), same, Figure.TTFT_MEAN))
        .isEqualTo(HtmlPage.Standing.OTHER);
  }

  @Test
  void thereMayBeNothingToCompare() {
    ReportCell nothing = CELLS.get(3);
    assertThat(HtmlPage.Standing.of(nothing, List.of(nothing), Figure.TTFT_MEAN))
        .isEqualTo(HtmlPage.Standing.OTHER);
  }

  private static void assertStandings(Figure figure, HtmlPage.Standing... expected) {
    assertThat(CELLS.stream().map(cell -> HtmlPage.Standing.of(cell, CELLS, figure)))
        .containsExactly(expected);
  }
}
