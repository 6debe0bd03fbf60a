package dev.warmpath.simulator.study;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Reports for tests. */
final class Reports {

  private Reports() {}

  /** A cell whose figures are 1, 2, 3 … times a value, with their intervals. */
  static ReportCell cell(Cell cell, double value, double confidence) {
    Map<Figure, Estimate> figures = new EnumMap<>(Figure.class);
    for (Figure figure : Figure.values()) {
      double factor = figure.ordinal() + 1.0;
      figures.put(figure, new Estimate(factor * value, factor * confidence));
    }
    return new ReportCell(cell, 3, 900, figures, new Oracle(0.75, 0.5), List.of(), List.of());
  }

  /** Two policies × two fleets × two loads; at load 1.2 everything is forty times as slow. */
  static List<ReportCell> grid() {
    return List.of(
        cell(Cells.cell("warm", 4, 0.8), 100, 5),
        cell(Cells.cell("a<b>&\"c\"", 4, 0.8), 109, 5),
        cell(Cells.cell("warm", 4, 1.2), 4000, 5),
        cell(Cells.cell("a<b>&\"c\"", 4, 1.2), 4900, 5),
        cell(Cells.cell("warm", 8, 0.8), 90, 5),
        cell(Cells.cell("a<b>&\"c\"", 8, 0.8), 95, 5),
        cell(Cells.cell("warm", 8, 1.2), 3000, 5),
        cell(Cells.cell("a<b>&\"c\"", 8, 1.2), 3900, 5));
  }

  static StudyReport report(List<ReportCell> cells) {
    return new StudyReport(
        new StudyReport.Setup(
            "warmpath simulate --trace 'a & b'", 1000, 0, 3, 0.1, Double.NaN, "h100x4: fast"),
        cells,
        new StudyReport.Speed(50_000, 2.5, 8, 2, 512));
  }
}
