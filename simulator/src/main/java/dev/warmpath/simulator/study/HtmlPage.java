package dev.warmpath.simulator.study;

import dev.warmpath.simulator.study.Figure.Better;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * A study as one page of HTML that needs nothing else: what was run, for each setting a table and
 * bars, across settings lines. It is well-formed XML.
 *
 * <p>Confined to the thread that writes it.
 */
public final class HtmlPage {

  private static final List<Figure> BARS =
      List.of(Figure.TTFT_MEAN, Figure.TTFT_P90, Figure.TTFT_P99);

  private final StudyReport report;
  private final MarkupWriter page = new MarkupWriter();

  private HtmlPage(StudyReport report) {
    this.report = report;
  }

  public static String of(StudyReport report) {
    return new HtmlPage(report).write();
  }

  private String write() {
    page.raw("<!DOCTYPE html>\n").open("html", "lang", "en").open("head");
    page.empty("meta", "charset", "utf-8");
    page.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
    page.element("title", "warmpath simulate: " + traces());
    page.open("style").raw(style()).close().close();
    page.open("body");
    head();
    AcrossSettings.add(page, report.cells());
    AroundChange.of(report.cells()).forEach(group -> group.add(page));
    ReportCell.bySetting(report.cells()).forEach(this::setting);
    legend();
    return page.close().close().toString();
  }

  /** Pictures of the groups of {@linkplain AroundChange minutes around a change}, as SVG. */
  public static List<String> pictures(List<ReportCell> cells) {
    return AroundChange.of(cells).stream().map(AroundChange::picture).toList();
  }

  static String style() {
    try (InputStream css = HtmlPage.class.getResourceAsStream("report.css")) {
      return new String(Objects.requireNonNull(css).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String traces() {
    return String.join(
        ", ", report.cells().stream().map(cell -> cell.cell().trace()).distinct().toList());
  }

  private void head() {
    StudyReport.Setup setup = report.setup();
    StudyReport.Speed speed = report.speed();
    page.element("h1", "Routing policies on simulated fleets");
    page.open("pre").element("code", setup.command()).close();
    page.open("dl");
    item(
        "workload",
        String.format(Locale.ROOT, "%s, %,d requests", traces(), setup.traceRequests()));
    item(
        "played",
        (setup.copies() == 0 ? "one copy for each eight replicas" : copies(setup.copies()))
            + ", from a random place on; "
            + (Double.isNaN(setup.changeSeconds())
                ? String.format(
                    Locale.ROOT,
                    "the first %.0f %% of the time is not counted",
                    100 * setup.warmUp())
                : String.format(
                    Locale.ROOT,
                    "counted is what arrives in the ten minutes after %.0f s",
                    setup.changeSeconds())));
    item("seeds", setup.seeds() == 1 ? "1: no confidence intervals" : setup.seeds() + " a cell");
    item("engine model", setup.cost());
    item(
        "goal for goodput",
        String.format(
            Locale.ROOT,
            "TTFT up to %.0f ms and TPOT up to %.0f ms",
            RunFigures.Goal.DEFAULT.ttftMillis(),
            RunFigures.Goal.DEFAULT.tpotMillis()));
    item(
        "speed",
        String.format(
            Locale.ROOT,
            "%,d requests in %.1f s (%,.0f a second, %d threads)",
            speed.requests(),
            speed.seconds(),
            speed.requestsPerSecond(),
            speed.threads()));
    page.close();
  }

  private static String copies(int copies) {
    return copies == 1 ? "one copy" : copies + " copies";
  }

  private void item(String name, String text) {
    page.open("div").element("dt", name).element("dd", text).close();
  }

  private void setting(String setting, List<ReportCell> cells) {
    List<ReportCell> sorted =
        cells.stream()
            .sorted(Comparator.comparingDouble(cell -> cell.mean(Figure.TTFT_MEAN)))
            .toList();
    page.open("section").element("h2", setting);
    table(sorted);
    page.element(
        "p",
        String.format(
            Locale.ROOT,
            "One cache for the whole fleet would hit %.3f of all prompt tokens if it forgot nothing, and %.3f if it had the fleet's size.",
            cells.get(0).oracle().infiniteHitRate(),
            cells.get(0).oracle().poolHitRate()));
    page.open("div", "class", "plots");
    BARS.forEach(figure -> bars(sorted, figure));
    page.close().close();
  }

  private void table(List<ReportCell> cells) {
    page.open("div", "class", "wide").open("table").open("thead").open("tr");
    page.element("th", "policy");
    List<Figure> figures = ReportCell.figures(cells);
    for (Figure figure : figures) {
      String unit = figure.unit().isEmpty() ? "" : ", " + figure.unit();
      page.element("th", figure.title() + unit);
    }
    page.close().close().open("tbody");
    for (ReportCell cell : cells) {
      page.open("tr").element("th", cell.cell().contender(), "scope", "row");
      for (Figure figure : figures) {
        value(cell, cells, figure);
      }
      page.close();
    }
    page.close().close().close();
  }

  private void value(ReportCell cell, List<ReportCell> all, Figure figure) {
    Standing standing = Standing.of(cell, all, figure);
    page.open("td", "class", standing.name().toLowerCase(Locale.ROOT));
    page.text((standing == Standing.NEAR ? "≈ " : "") + shown(cell, figure));
    double margin = cell.estimate(figure).margin();
    if (margin > 0) {
      page.element("small", " ± " + ReportCell.text(figure, margin));
    }
    page.close();
  }

  private static String shown(ReportCell cell, Figure figure) {
    return ReportCell.text(figure, cell.mean(figure));
  }

  private void bars(List<ReportCell> cells, Figure figure) {
    List<BarPlot.Bar> bars =
        cells.stream()
            .map(cell ->
                new BarPlot.Bar(
                    cell.cell().contender(),
                    cell.estimate(figure),
                    shown(cell, figure),
                    Standing.of(cell, cells, figure).name().toLowerCase(Locale.ROOT)))
            .toList();
    String scale = BarPlot.isLogarithmic(bars) ? ", logarithmic" : "";
    page.open("figure");
    page.element(
        "figcaption", String.format(Locale.ROOT, "%s, %s%s", figure.title(), figure.unit(), scale));
    page.raw(BarPlot.svg(figure.title(), bars)).close();
  }

  private void legend() {
    page.open("footer");
    page.element(
        "p",
        "Bold: the best of a setting. ≈: its 95 % confidence interval (± and whiskers, over the seeds) and that of the best overlap.");
    page.element(
        "p",
        "TTFT: time to first token. TPOT: mean time between two tokens of an answer. Hit rate: prompt tokens that engines did not compute. From host: those of them that they loaded from host memory. Goodput: requests within the goal. Imbalance: prompt tokens computed by the busiest engine, over the mean. Predicted − actual: cached tokens. Load: rate of arrivals as a share of the knee, where the mean TTFT of the policy conductor is four times that of an idle fleet. Rate: how many times as fast as recorded requests arrive.");
    page.close();
  }

  /** How a cell stands among those of its setting, in one figure. */
  enum Standing {
    /** No other is better. */
    BEST,
    /** Its confidence interval and that of the best overlap. */
    NEAR,
    /** All others, and all if no value is better than another. */
    OTHER;

    static Standing of(ReportCell cell, List<ReportCell> all, Figure figure) {
      Optional<Estimate> best = best(all, figure);
      if (best.isEmpty()) {
        return OTHER;
      }
      Estimate own = cell.estimate(figure);
      if (own.mean() == best.get().mean()) {
        return BEST;
      }
      return own.overlaps(best.get()) ? NEAR : OTHER;
    }

    private static Optional<Estimate> best(List<ReportCell> all, Figure figure) {
      boolean differ = all.stream().mapToDouble(cell -> cell.mean(figure)).distinct().count() > 1;
      if (figure.better() == Better.NEITHER || !differ) {
        return Optional.empty();
      }
      Comparator<Estimate> lowest = Comparator.comparingDouble(Estimate::mean);
      return all.stream()
          .map(cell -> cell.estimate(figure))
          .filter(estimate -> !Double.isNaN(estimate.mean()))
          .min(figure.better() == Better.LOWER ? lowest : lowest.reversed());
    }
  }

  /**
   * Lines across settings that differ in one thing only: load or fleet size.
   *
   * <p>Confined to the thread that writes the page.
   */
  private static final class AcrossSettings {

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
}
