package dev.warmpath.simulator.study;

import dev.warmpath.simulator.study.ReportCell.ReportMinute;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * The minutes around a fleet's change: for each setting and policy how each change compares with
 * the others, as text and as plots.
 *
 * @param title setting and policy
 * @param cells one for each change
 */
record AroundChange(String title, List<ReportCell> cells) {

  /** What is shown of each minute. */
  private enum Shown {
    MEAN(Figure.TTFT_MEAN, ReportMinute::mean),
    P90(Figure.TTFT_P90, ReportMinute::p90),
    P99(Figure.TTFT_P99, ReportMinute::p99),
    HIT_RATE(Figure.HIT_RATE, ReportMinute::hitRate);

    private final Figure figure;

    @SuppressWarnings("ImmutableEnumChecker") // method references
    private final Function<ReportMinute, Estimate> value;

    Shown(Figure figure, Function<ReportMinute, Estimate> value) {
      this.figure = figure;
      this.value = value;
    }
  }

  /** All that there are among these cells, in their order. */
  static List<AroundChange> of(List<ReportCell> cells) {
    Map<String, List<ReportCell>> groups = new LinkedHashMap<>();
    for (ReportCell cell : cells) {
      if (!cell.minutes().isEmpty()) {
        Cell unchanged = cell.cell().unchanged();
        String title = unchanged.setting() + ", " + unchanged.contender();
        groups.computeIfAbsent(title, each -> new ArrayList<>()).add(cell);
      }
    }
    List<AroundChange> all = new ArrayList<>();
    groups.forEach((title, its) -> all.add(new AroundChange(title, its)));
    return all;
  }

  /** A line for each figure and change. */
  String text() {
    StringBuilder text = new StringBuilder(title).append('\n');
    for (Shown shown : Shown.values()) {
      text.append(String.format("  %-20s", shown.figure.title()));
      cells
          .get(0)
          .minutes()
          .forEach(minute -> text.append(String.format(" %6s", label(minute.minute()))));
      text.append('\n');
      for (ReportCell cell : cells) {
        text.append(String.format("  %-20s", cell.cell().change()));
        for (ReportMinute minute : cell.minutes()) {
          double mean = shown.value.apply(minute).mean();
          text.append(String.format(" %6s", ReportCell.text(shown.figure, mean)));
        }
        text.append('\n');
      }
    }
    addDifferences(text);
    return text.toString();
  }

  private static String label(int minute) {
    return minute < 0 ? minute + "" : "+" + minute;
  }

  private void addDifferences(StringBuilder text) {
    for (ReportCell unchanged : cells) {
      if (unchanged.cell().equals(unchanged.cell().unchanged())) {
        text.append("  TTFT mean of ten minutes, more than with none, seed by seed\n");
        for (ReportCell cell : cells) {
          Estimate more = cell.ttftOver(unchanged);
          text.append(
              String.format(
                  Locale.ROOT,
                  "  %-20s %,6.0f ± %s%n",
                  cell.cell().change(),
                  more.mean(),
                  ReportCell.text(Figure.TTFT_MEAN, more.confidence())));
        }
      }
    }
  }

  void add(MarkupWriter page) {
    page.open("section").element("h2", title + ": by minute").open("div", "class", "plots");
    for (Shown shown : Shown.values()) {
      String unit = shown.figure.unit().isEmpty() ? "" : ", " + shown.figure.unit();
      String scale = LinePlot.isLogarithmic(lines(shown)) ? ", logarithmic" : "";
      page.open("figure").element("figcaption", shown.figure.title() + unit + scale);
      page.raw(LinePlot.svg(axes(shown), lines(shown))).close();
    }
    page.close().close();
  }

  /** The mean times as a picture of its own. */
  String picture() {
    return LinePlot.picture(axes(Shown.MEAN), lines(Shown.MEAN), HtmlPage.style());
  }

  private static LinePlot.Axes axes(Shown shown) {
    return new LinePlot.Axes(shown.figure.title(), "minutes after the change", 0, "change");
  }

  private List<LinePlot.Line> lines(Shown shown) {
    List<LinePlot.Line> lines = new ArrayList<>();
    for (int i = 0; i < cells.size(); i++) {
      ReportCell cell = cells.get(i);
      List<LinePlot.Point> points =
          cell.minutes().stream()
              .map(minute -> new LinePlot.Point(minute.minute() + 0.5, shown.value.apply(minute)))
              .toList();
      lines.add(
          new LinePlot.Line(
              cell.cell().change().toString(), "c" + i % 8 + " d" + Math.min(2, i / 8), points));
    }
    return lines;
  }
}
