package dev.warmpath.simulator.study;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/** Lines over one axis, with confidence intervals and their names at their ends. Thread-safe. */
final class LinePlot {

  /** A place on a line. */
  public record Point(double x, Estimate y) {}

  /**
   * A line.
   *
   * @param style a class of the line
   */
  public record Line(String label, String style, List<Point> points) {

    /** Points without a value are left out. */
    public Line {
      points =
          points.stream()
              .filter(point -> !Double.isNaN(point.y.mean()))
              .sorted(Comparator.comparingDouble(Point::x))
              .toList();
    }
  }

  /**
   * What the axes are.
   *
   * @param mark a value of x that is marked, or NaN
   */
  public record Axes(String title, String x, double mark, String markLabel) {}

  private static final String BACKGROUND = "svg { background: var(--panel); }";
  private static final double WIDTH = 420;
  private static final double HEIGHT = 300;
  private static final double LEFT = 42;
  private static final double RIGHT = WIDTH - 118;
  private static final double TOP = 12;
  private static final double BOTTOM = HEIGHT - 36;
  private static final double LABEL_GAP = 13;
  private static final double TICK_GAP = 24;

  private final Axes axes;
  private final List<Line> lines;
  private final Scale x;
  private final Scale y;
  private final MarkupWriter svg = new MarkupWriter();

  private LinePlot(Axes axes, List<Line> lines) {
    this.axes = axes;
    this.lines = lines.stream().filter(line -> !line.points.isEmpty()).toList();
    double[] places = places().toArray();
    x = Scale.between(min(places), max(places), LEFT, RIGHT);
    double[] low = values().mapToDouble(Estimate::mean).toArray();
    double[] high = values().mapToDouble(value -> value.mean() + value.margin()).toArray();
    y = Scale.of(min(low), max(high), BOTTOM, TOP);
  }

  /** The plot as an element of HTML. */
  public static String svg(Axes axes, List<Line> lines) {
    return new LinePlot(axes, lines).draw();
  }

  /** The plot as a file of its own, with these styles. */
  public static String picture(Axes axes, List<Line> lines, String css) {
    String plot = svg(axes, lines);
    int inside = plot.indexOf('>') + 1;
    MarkupWriter style = new MarkupWriter().open("style").text(css).raw(BACKGROUND).close();
    return plot.substring(0, inside) + style + plot.substring(inside) + "\n";
  }

  private DoubleStream places() {
    DoubleStream own = lines.stream().flatMap(line -> line.points.stream()).mapToDouble(Point::x);
    return DoubleStream.concat(own, DoubleStream.of(axes.mark).filter(mark -> !Double.isNaN(mark)));
  }

  private java.util.stream.Stream<Estimate> values() {
    return lines.stream().flatMap(line -> line.points.stream()).map(Point::y);
  }

  private static double min(double[] values) {
    return DoubleStream.of(values).min().orElse(0);
  }

  private static double max(double[] values) {
    return DoubleStream.of(values).max().orElse(1);
  }

  private String draw() {
    svg.open(
        "svg",
        "xmlns",
        "http://www.w3.org/2000/svg",
        "viewBox",
        String.format(Locale.ROOT, "0 0 %.0f %.0f", WIDTH, HEIGHT),
        "role",
        "img",
        "aria-label",
        axes.title);
    drawY();
    drawX();
    drawMark();
    double[] labels = labelPlaces();
    for (int i = 0; i < lines.size(); i++) {
      drawLine(lines.get(i), labels[i]);
    }
    return svg.close().toString();
  }

  private void drawY() {
    for (double tick : y.ticks()) {
      double at = y.at(tick);
      svg.empty("line", "class", "grid", "x1", LEFT, "x2", RIGHT, "y1", at, "y2", at);
      svg.element(
          "text",
          Scale.label(tick),
          "class",
          "tick",
          "x",
          LEFT - 5,
          "y",
          at + 4,
          "text-anchor",
          "end");
    }
  }

  /** A tick at each value that there is, as far as their labels have room. */
  private void drawX() {
    double last = Double.NEGATIVE_INFINITY;
    for (double value : places().distinct().sorted().toArray()) {
      double at = x.at(value);
      if (at - last >= TICK_GAP) {
        svg.element(
            "text",
            Scale.label(value),
            "class",
            "tick",
            "x",
            at,
            "y",
            BOTTOM + 15,
            "text-anchor",
            "middle");
        last = at;
      }
    }
    svg.element(
        "text",
        axes.x,
        "class",
        "axis",
        "x",
        (LEFT + RIGHT) / 2,
        "y",
        HEIGHT - 5,
        "text-anchor",
        "middle");
  }

  private void drawMark() {
    if (!Double.isNaN(axes.mark)) {
      double at = x.at(axes.mark);
      svg.empty("line", "class", "mark", "x1", at, "x2", at, "y1", TOP, "y2", BOTTOM);
      svg.element(
          "text", axes.markLabel, "class", "tick", "x", at - 4, "y", TOP + 8, "text-anchor", "end");
    }
  }

  private void drawLine(Line line, double labelAt) {
    svg.open("g", "class", "line " + line.style);
    svg.element("title", line.label);
    StringBuilder path = new StringBuilder();
    for (Point point : line.points) {
      double atX = x.at(point.x);
      double atY = y.at(point.y.mean());
      path.append(String.format(Locale.ROOT, "%s%.1f %.1f", path.isEmpty() ? "M" : "L", atX, atY));
      if (point.y.margin() > 0) {
        svg.empty(
            "line",
            "class",
            "interval",
            "x1",
            atX,
            "x2",
            atX,
            "y1",
            y.at(point.y.mean() - point.y.margin()),
            "y2",
            y.at(point.y.mean() + point.y.margin()));
      }
      svg.empty("circle", "cx", atX, "cy", atY, "r", 2.5);
    }
    svg.empty("path", "class", "way", "d", path);
    Point end = line.points.get(line.points.size() - 1);
    svg.empty(
        "path",
        "class",
        "leader",
        "d",
        String.format(
            Locale.ROOT,
            "M%.1f %.1fL%.1f %.1f",
            x.at(end.x),
            y.at(end.y.mean()),
            RIGHT + 8,
            labelAt));
    svg.element(
        "text",
        BarPlot.shortened(line.label),
        "class",
        "name",
        "x",
        RIGHT + 10,
        "y",
        labelAt + 3.5);
    svg.close();
  }

  /** Where names stand: as near to the ends of their lines as they can without touching. */
  private double[] labelPlaces() {
    List<Integer> order = new ArrayList<>();
    double[] places = new double[lines.size()];
    for (int i = 0; i < places.length; i++) {
      List<Point> points = lines.get(i).points;
      places[i] = y.at(points.get(points.size() - 1).y.mean());
      order.add(i);
    }
    order.sort(Comparator.comparingDouble(line -> places[line]));
    double gap = Math.min(LABEL_GAP, (BOTTOM - TOP) / Math.max(1, places.length - 1));
    double least = TOP;
    for (int line : order) {
      places[line] = Math.max(places[line], least);
      least = places[line] + gap;
    }
    double most = BOTTOM;
    for (int i = order.size() - 1; i >= 0; i--) {
      places[order.get(i)] = Math.min(places[order.get(i)], most);
      most = places[order.get(i)] - gap;
    }
    return places;
  }

  /** Whether the values of these lines are shown logarithmically. */
  public static boolean isLogarithmic(List<Line> lines) {
    return new LinePlot(new Axes("", "", Double.NaN, ""), lines).y.logarithmic();
  }

  /**
   * An axis: values to places, linear or logarithmic.
   *
   * @param low the value at {@code from}, above 0 if logarithmic
   * @param high the value at {@code to}
   */
  record Scale(double low, double high, double from, double to, boolean logarithmic) {

    /** Values that differ by more than this factor are shown logarithmically. */
    private static final double WIDE = 20;

    private static final double FEW_DECADES = 2.2;
    private static final int TICKS = 5;

    /** The shortest bar of a logarithmic plot is to be seen. */
    private static final double BELOW = 0.8;

    /** From 0 to {@code highest}; from a round value below {@code lowest} if they differ much. */
    static Scale of(double lowest, double highest, double from, double to) {
      double high = highest > 0 ? highest : 1;
      if (lowest > 0 && high / lowest > WIDE) {
        return new Scale(roundBelow(BELOW * lowest), high, from, to, true);
      }
      return new Scale(0, high, from, to, false);
    }

    /** The highest of 1, 2 and 5 times a power of ten that is not above {@code value}. */
    private static double roundBelow(double value) {
      double power = Math.pow(10, Math.floor(Math.log10(value)));
      double digit = value / power;
      return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
    }

    /** From {@code lowest} to {@code highest}, whatever they are. */
    static Scale between(double lowest, double highest, double from, double to) {
      return highest > lowest
          ? new Scale(lowest, highest, from, to, lowest > 0 && highest / lowest > 3)
          : new Scale(lowest - 1, lowest + 1, from, to, false);
    }

    /** Where a value is; those outside are at the ends. */
    double at(double value) {
      double share =
          logarithmic
              ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
              : (value - low) / (high - low);
      return from + (to - from) * Math.max(0, Math.min(1, share));
    }

    /** Round values on the axis, some five. */
    List<Double> ticks() {
      return logarithmic ? decades() : steps();
    }

    private List<Double> steps() {
      double rough = (high - low) / TICKS;
      double power = Math.pow(10, Math.floor(Math.log10(rough)));
      double step =
          power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
      List<Double> ticks = new ArrayList<>();
      for (long i = (long) Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i++) {
        ticks.add(i * step);
      }
      return ticks;
    }

    private List<Double> decades() {
      boolean few = Math.log10(high / low) < FEW_DECADES;
      List<Double> ticks = new ArrayList<>();
      for (double power = Math.pow(10, Math.floor(Math.log10(low))); power <= high; power *= 10) {
        for (double factor : few ? new double[] {1, 2, 5} : new double[] {1}) {
          if (factor * power >= low * (1 - 1e-9) && factor * power <= high) {
            ticks.add(factor * power);
          }
        }
      }
      return ticks;
    }

    /** A value of the axis, short: 250k. */
    static String label(double value) {
      double size = Math.abs(value);
      if (size >= 1e6) {
        return plain(value / 1e6) + "M";
      }
      return size >= 1e4 ? plain(value / 1e3) + "k" : plain(value);
    }

    private static String plain(double value) {
      String text = String.format(Locale.ROOT, "%.3f", value);
      return text.replaceAll("\\.?0+$", "");
    }
  }
}
