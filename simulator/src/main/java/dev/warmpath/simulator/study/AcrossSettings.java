package dev.warmpath.simulator.study;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Lines across settings that differ in one thing only: load or fleet size.
 *
 * <p>Confined to the thread that writes the page.
 */
final class AcrossSettings {

  private static final double KNEE = 1;

  private final MarkupWriter page;
  private final List<String> policies;

  private AcrossSettings(MarkupWriter page, List<ReportCell> cells) {
    this.page = page;
    policies = cells.stream().map(cell -> cell.cell().contender()).distinct().toList();
  }

  /** Adds nothing if no settings can be joined. */
  static void add(MarkupWriter page, List<ReportCell> cells) {
    AcrossSettings across = new AcrossSettings(page, cells);
    Axis load =
        new Axis(
            cell ->
                String.format(
                    Locale.ROOT, "%s, %s, index %s", cell.trace(), cell.fleet(), cell.index()),
            AcrossSettings::load,
            cell -> Double.isNaN(cell.load()) ? "rate" : "load, as a share of the knee",
            cell -> Double.isNaN(cell.load()) ? Double.NaN : KNEE);
    Axis size =
        new Axis(
            cell ->
                String.format(
                    Locale.ROOT,
                    "%s, replicas of %s, %s %s, index %s",
                    cell.trace(),
                    cell.replica(),
                    Double.isNaN(cell.load()) ? "rate" : "load",
                    load(cell),
                    cell.index()),
            Cell::replicas,
            cell -> "replicas",
            cell -> Double.NaN);
    across.along(load, cells, List.of(Figure.TTFT_MEAN, Figure.TTFT_P99, Figure.HIT_RATE));
    across.along(size, cells, List.of(Figure.TTFT_MEAN, Figure.HIT_RATE));
  }

  private static double load(Cell cell) {
    return Double.isNaN(cell.load()) ? cell.rate() : cell.load();
  }

  /**
   * @param rest names all but the value on the axis
   * @param mark a value that is marked, or NaN
   */
  private record Axis(
      Function<Cell, String> rest,
      ToDoubleFunction<Cell> value,
      Function<Cell, String> title,
      ToDoubleFunction<Cell> mark) {}

  private void along(Axis axis, List<ReportCell> cells, List<Figure> figures) {
    Map<String, List<ReportCell>> groups = new LinkedHashMap<>();
    for (ReportCell cell : cells) {
      groups.computeIfAbsent(axis.rest.apply(cell.cell()), rest -> new ArrayList<>()).add(cell);
    }
    groups.forEach((rest, group) -> {
      boolean several =
          group.stream()
                  .mapToDouble(cell -> axis.value.applyAsDouble(cell.cell()))
                  .distinct()
                  .count()
              > 1;
      if (several) {
        page.open("section").element("h2", rest).open("div", "class", "plots");
        figures.forEach(figure -> plot(axis, group, figure));
        page.close().close();
      }
    });
  }

  private void plot(Axis axis, List<ReportCell> group, Figure figure) {
    List<LinePlot.Line> lines = new ArrayList<>();
    for (int i = 0; i < policies.size(); i++) {
      String policy = policies.get(i);
      List<LinePlot.Point> points =
          group.stream()
              .filter(cell -> cell.cell().contender().equals(policy))
              .map(cell -> point(axis, cell, cell.estimate(figure)))
              .toList();
      lines.add(new LinePlot.Line(policy, "c" + i % 8 + " d" + Math.min(2, i / 8), points));
    }
    if (figure == Figure.HIT_RATE) {
      lines.add(oracle("infinite cache", axis, group, Oracle::infiniteHitRate));
      lines.add(oracle("one pool", axis, group, Oracle::poolHitRate));
    }
    Cell any = group.get(0).cell();
    String unit = figure.unit().isEmpty() ? "" : ", " + figure.unit();
    String scale = LinePlot.isLogarithmic(lines) ? ", logarithmic" : "";
    page.open("figure").element("figcaption", figure.title() + unit + scale);
    page.raw(
        LinePlot.svg(
            new LinePlot.Axes(
                figure.title(), axis.title.apply(any), axis.mark.applyAsDouble(any), "knee"),
            lines));
    page.close();
  }

  private static LinePlot.Line oracle(
      String name, Axis axis, List<ReportCell> group, ToDoubleFunction<Oracle> figure) {
    Map<Double, LinePlot.Point> points = new LinkedHashMap<>();
    for (ReportCell cell : group) {
      Estimate value = new Estimate(figure.applyAsDouble(cell.oracle()), Double.NaN);
      LinePlot.Point point = point(axis, cell, value);
      points.putIfAbsent(point.x(), point);
    }
    return new LinePlot.Line(name, "oracle", List.copyOf(points.values()));
  }

  private static LinePlot.Point point(Axis axis, ReportCell cell, Estimate value) {
    return new LinePlot.Point(axis.value.applyAsDouble(cell.cell()), value);
  }
}
