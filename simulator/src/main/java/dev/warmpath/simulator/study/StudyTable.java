package dev.warmpath.simulator.study;

import java.util.List;
import java.util.Locale;

/** The figures of a study as text: a table for each setting, the lowest mean first. */
public final class StudyTable {

  private StudyTable() {}

  public static String of(List<CellFigures> cells) {
    StringBuilder text = new StringBuilder();
    cells.stream()
        .map(each -> each.cell().setting())
        .distinct()
        .forEach(setting -> {
          text.append(setting).append('\n');
          text.append(
              String.format(
                  Locale.ROOT,
                  "  %-44s %9s %7s %8s %8s %8s %7s %6s %7s %9s %8s%n",
                  "policy",
                  "TTFT ms",
                  "±",
                  "p50",
                  "p90",
                  "p99",
                  "TPOT",
                  "hits",
                  "goodput",
                  "imbalance",
                  "rejected"));
          cells.stream()
              .filter(each -> each.cell().setting().equals(setting))
              .sorted((a, b) -> Double.compare(a.ttftMean(), b.ttftMean()))
              .forEach(each -> text.append(row(each)));
        });
    return text.toString();
  }

  private static String row(CellFigures figures) {
    return String.format(
        Locale.ROOT,
        "  %-44s %9.0f %7.0f %8.0f %8.0f %8.0f %7.1f %6.3f %7.3f %9.2f %8.0f%n",
        figures.cell().policy(),
        figures.ttftMean(),
        figures.confidence(run -> run.ttftMillis().mean()),
        figures.mean(run -> run.ttftMillis().p50()),
        figures.mean(run -> run.ttftMillis().p90()),
        figures.mean(run -> run.ttftMillis().p99()),
        figures.mean(RunFigures::tpotMillis),
        figures.mean(RunFigures::hitRate),
        figures.mean(RunFigures::goodput),
        figures.mean(RunFigures::imbalance),
        figures.mean(RunFigures::rejected));
  }
}
