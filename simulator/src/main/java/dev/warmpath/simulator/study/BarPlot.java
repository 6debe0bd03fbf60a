package dev.warmpath.simulator.study;

import dev.warmpath.simulator.study.LinePlot.Scale;
import java.util.List;
import java.util.Locale;

/** Horizontal bars with confidence intervals, a row each. Thread-safe. */
final class BarPlot {

  /**
   * A row.
   *
   * @param shown the value as text
   * @param emphasis a class of the bar, such as {@code best}
   */
  public record Bar(String label, Estimate value, String shown, String emphasis) {}

  private static final double WIDTH = 420;
  private static final double LABELS = 126;
  private static final double VALUES = 58;
  private static final double ROW = 20;
  private static final double AXIS = 22;
  private static final int LABEL_LENGTH = 20;

  private BarPlot() {}

  /** The plot as an element of HTML; bars without a value have no length. */
  public static String svg(String title, List<Bar> bars) {
    double height = bars.size() * ROW;
    Scale scale = scale(bars);
    MarkupWriter svg = new MarkupWriter();
    svg.open(
        "svg",
        "xmlns",
        "http://www.w3.org/2000/svg",
        "viewBox",
        String.format(Locale.ROOT, "0 0 %.0f %.0f", WIDTH, height + AXIS),
        "role",
        "img",
        "aria-label",
        title);
    for (double tick : scale.ticks()) {
      double x = scale.at(tick);
      svg.empty("line", "class", "grid", "x1", x, "x2", x, "y1", 0, "y2", height);
      svg.element(
          "text",
          Scale.label(tick),
          "class",
          "tick",
          "x",
          x,
          "y",
          height + 15,
          "text-anchor",
          "middle");
    }
    for (int i = 0; i < bars.size(); i++) {
      bar(svg, bars.get(i), i * ROW, scale);
    }
    return svg.close().toString();
  }

  /** Whether the lengths of these bars are logarithms. */
  public static boolean isLogarithmic(List<Bar> bars) {
    return scale(bars).logarithmic();
  }

  private static Scale scale(List<Bar> bars) {
    double lowest = Double.POSITIVE_INFINITY;
    double highest = 0;
    for (Bar bar : bars) {
      if (!Double.isNaN(bar.value.mean())) {
        lowest = Math.min(lowest, bar.value.mean());
        highest = Math.max(highest, bar.value.mean() + bar.value.margin());
      }
    }
    return Scale.of(lowest, highest, LABELS + 6, WIDTH - VALUES);
  }

  private static void bar(MarkupWriter svg, Bar bar, double top, Scale scale) {
    double middle = top + ROW / 2;
    double mean = bar.value.mean();
    double margin = bar.value.margin();
    svg.open("g", "class", ("bar " + bar.emphasis).trim());
    svg.element("title", bar.label + ": " + bar.shown);
    svg.element(
        "text",
        shortened(bar.label),
        "class",
        "label",
        "x",
        LABELS,
        "y",
        middle + 4,
        "text-anchor",
        "end");
    double end = scale.from();
    if (!Double.isNaN(mean)) {
      end = scale.at(mean + margin);
      svg.empty(
          "rect",
          "x",
          scale.from(),
          "y",
          top + 4,
          "width",
          scale.at(mean) - scale.from(),
          "height",
          ROW - 8,
          "rx",
          2);
      if (margin > 0) {
        double low = scale.at(mean - margin);
        svg.empty(
            "path",
            "class",
            "interval",
            "d",
            String.format(Locale.ROOT, "M%.1f %.1fv6m0 -3H%.1fm0 -3v6", low, middle - 3, end));
      }
    }
    svg.element("text", bar.shown, "class", "value", "x", end + 5, "y", middle + 4);
    svg.close();
  }

  static String shortened(String label) {
    return label.length() <= LABEL_LENGTH ? label : label.substring(0, LABEL_LENGTH - 1) + "…";
  }
}
