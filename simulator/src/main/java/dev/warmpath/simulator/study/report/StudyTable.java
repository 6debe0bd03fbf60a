package dev.warmpath.simulator.study.report;

import dev.warmpath.simulator.study.Figure;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The figures of a study as text: a table for each setting, the lowest mean first. */
public final class StudyTable {

  private static final Figure[] COLUMNS = {
    Figure.TTFT_P50,
    Figure.TTFT_P90,
    Figure.TTFT_P99,
    Figure.TPOT,
    Figure.HIT_RATE,
    Figure.GOODPUT,
    Figure.IMBALANCE,
    Figure.REJECTED
  };

  private StudyTable() {}

  public static String of(List<ReportCell> cells) {
    StringBuilder text = new StringBuilder();
    ReportCell.bySetting(cells).forEach((setting, its) -> add(text, setting, its));
    return text.toString();
  }

  private static void add(StringBuilder text, String setting, List<ReportCell> cells) {
    text.append(setting).append('\n');
    text.append(String.format("  %-44s %9s %8s", "policy", "TTFT ms", "±"));
    for (Figure column : COLUMNS) {
      text.append(String.format(" %9s", column.title().replace("TTFT ", "")));
    }
    text.append('\n');
    cells.stream()
        .sorted(Comparator.comparingDouble(cell -> cell.mean(Figure.TTFT_MEAN)))
        .forEach(cell -> add(text, cell));
    text.append(
        String.format(
            Locale.ROOT,
            "  hit rate of one cache for all: %.3f if it forgets nothing, %.3f of the fleet's size%n",
            cells.get(0).oracle().infiniteHitRate(),
            cells.get(0).oracle().poolHitRate()));
  }

  private static void add(StringBuilder text, ReportCell cell) {
    text.append(
        String.format(
            "  %-44s %9s %8s",
            cell.cell().policy(),
            ReportCell.text(Figure.TTFT_MEAN, cell.mean(Figure.TTFT_MEAN)),
            ReportCell.text(Figure.TTFT_MEAN, cell.estimate(Figure.TTFT_MEAN).confidence())));
    for (Figure column : COLUMNS) {
      text.append(String.format(" %9s", ReportCell.text(column, cell.mean(column))));
    }
    text.append('\n');
  }
}
