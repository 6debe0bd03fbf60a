package dev.warmpath.simulator.study;

import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The figures of a study as text: a table for each setting, the lowest mean first. */
public final class StudyTable {

  private static final Set<Figure> NO_COLUMNS =
      EnumSet.of(Figure.TTFT_MEAN, Figure.PREDICTED_MINUS_ACTUAL);

  private StudyTable() {}

  public static String of(List<ReportCell> cells) {
    StringBuilder text = new StringBuilder();
    ReportCell.bySetting(cells).forEach((setting, its) -> add(text, setting, its));
    AroundChange.of(cells).forEach(group -> text.append(group.text()));
    return text.toString();
  }

  private static void add(StringBuilder text, String setting, List<ReportCell> cells) {
    List<Figure> columns =
        ReportCell.figures(cells).stream().filter(figure -> !NO_COLUMNS.contains(figure)).toList();
    text.append(setting).append('\n');
    text.append(String.format("  %-44s %9s %8s", "policy", "TTFT ms", "±"));
    for (Figure column : columns) {
      text.append(String.format(" %9s", column.title().replace("TTFT ", "")));
    }
    text.append('\n');
    cells.stream()
        .sorted(Comparator.comparingDouble(cell -> cell.mean(Figure.TTFT_MEAN)))
        .forEach(cell -> add(text, cell, columns));
    text.append(
        String.format(
            Locale.ROOT,
            "  hit rate of one cache for all: %.3f if it forgets nothing, %.3f of the fleet's size%n",
            cells.get(0).oracle().infiniteHitRate(),
            cells.get(0).oracle().poolHitRate()));
  }

  private static void add(StringBuilder text, ReportCell cell, List<Figure> columns) {
    text.append(
        String.format(
            "  %-44s %9s %8s",
            cell.cell().contender(),
            ReportCell.text(Figure.TTFT_MEAN, cell.mean(Figure.TTFT_MEAN)),
            ReportCell.text(Figure.TTFT_MEAN, cell.estimate(Figure.TTFT_MEAN).confidence())));
    for (Figure column : columns) {
      text.append(String.format(" %9s", ReportCell.text(column, cell.mean(column))));
    }
    text.append('\n');
  }
}
