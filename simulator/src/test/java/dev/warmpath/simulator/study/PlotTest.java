package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.simulator.study.BarPlot.Bar;
import dev.warmpath.simulator.study.LinePlot.Axes;
import dev.warmpath.simulator.study.LinePlot.Line;
import dev.warmpath.simulator.study.LinePlot.Point;
import dev.warmpath.simulator.study.LinePlot.Scale;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

final class PlotTest {

  @Test
  void linearAxesBeginAtZeroAndHaveRoundTicks() {
    Scale scale = Scale.of(30, 470, 0, 470);
    assertThat(scale.logarithmic()).isFalse();
    assertThat(scale.at(47)).isCloseTo(47, within(1e-9));
    assertThat(scale.at(-5)).isZero();
    assertThat(scale.at(1000)).isEqualTo(470);
    assertThat(scale.ticks()).containsExactly(0.0, 100.0, 200.0, 300.0, 400.0);
    assertThat(Scale.of(0.1, 0.31, 0, 1).ticks())
        .hasSize(4)
        .contains(0.0)
        .last()
        .isEqualTo(0.1 * 3);
  }

  @Test
  void wideAxesAreLogarithmic() {
    Scale scale = Scale.of(130, 100_000, 0, 300);
    assertThat(scale.logarithmic()).isTrue();
    assertThat(scale.low()).as("the shortest bar is seen").isEqualTo(100);
    assertThat(scale.at(1000)).isCloseTo(100, within(1e-9));
    assertThat(scale.ticks()).containsExactly(100.0, 1000.0, 10_000.0, 100_000.0);
    assertThat(Scale.of(900, 20_000, 0, 1).ticks())
        .containsExactly(500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0);
  }

  @Test
  void labelsAreShort() {
    assertThat(List.of(0.0, 0.25, 3000.0, 12_500.0, 2e6).stream().map(Scale::label))
        .containsExactly("0", "0.25", "3000", "12.5k", "2M");
  }

  @Test
  void markupIsWellFormedWhateverItContains() throws Exception {
    MarkupWriter markup =
        new MarkupWriter().open("p", "title", "\"<&>\"").element("b", "1 < 2 & 3", "x", 1.25);
    assertThatThrownBy(markup::toString).isInstanceOf(IllegalStateException.class);
    Element paragraph = parsed(markup.empty("br").close().toString()).getDocumentElement();
    assertThat(paragraph.getAttribute("title")).isEqualTo("\"<&>\"");
    assertThat(paragraph.getTextContent()).isEqualTo("1 < 2 & 3");
    assertThat(elements(paragraph, "b").get(0).getAttribute("x")).isEqualTo("1.3");
  }

  @Test
  void barsAreAsLongAsTheirValues() throws Exception {
    String svg =
        BarPlot.svg(
            "times",
            List.of(
                new Bar("a", new Estimate(100, 10), "100", "best"),
                new Bar("b & c", new Estimate(200, Double.NaN), "200", ""),
                new Bar("a name that is far too long", new Estimate(Double.NaN, 1), "–", "")));
    Element plot = parsed(svg).getDocumentElement();
    List<Element> bars = elements(plot, "rect");
    assertThat(bars).hasSize(2);
    assertThat(2 * number(bars.get(0), "width"))
        .isCloseTo(number(bars.get(1), "width"), within(0.2));
    assertThat(elements(plot, "path")).as("intervals").hasSize(1);
    assertThat(plot.getTextContent()).contains("b & c", "a name that is far …");
    assertThat(elements(plot, "g").get(0).getAttribute("class")).isEqualTo("bar best");
  }

  @Test
  void linesGoThroughTheirPointsAndAreNamed() throws Exception {
    List<Line> lines =
        List.of(
            new Line("up", "c0", List.of(point(1, 10, 2), point(0.5, 5, 0), point(2, 20, 2))),
            new Line("gap", "c1", List.of(point(0.5, 4, 0), point(1, Double.NaN, 0))),
            new Line("nothing", "c2", List.of(point(1, Double.NaN, 0))));
    Element plot =
        parsed(LinePlot.svg(new Axes("times", "load", 1.5, "knee"), lines)).getDocumentElement();
    List<Element> ways = elements(plot, "path").stream().filter(path -> is(path, "way")).toList();
    assertThat(ways).hasSize(2);
    assertThat(ways.get(0).getAttribute("d").split("L")).as("sorted by x").hasSize(3);
    assertThat(elements(plot, "circle")).hasSize(4);
    assertThat(elements(plot, "line").stream().filter(line -> is(line, "interval"))).hasSize(2);
    Element mark =
        elements(plot, "line").stream().filter(line -> is(line, "mark")).findFirst().orElseThrow();
    double half = number(elements(plot, "circle").get(0), "cx");
    double two = number(elements(plot, "circle").get(2), "cx");
    assertThat(number(mark, "x1")).isStrictlyBetween(half, two);
    assertThat(plot.getTextContent())
        .contains("up", "gap", "load", "knee")
        .doesNotContain("nothing");
  }

  @Test
  void namesDoNotTouchAndStayInside() throws Exception {
    List<Line> lines = new ArrayList<>();
    for (int i = 0; i < 18; i++) {
      lines.add(new Line("line " + i, "c0", List.of(point(1, 50, 0), point(2, 50 + i % 3, 0))));
    }
    Element plot =
        parsed(LinePlot.svg(new Axes("t", "x", Double.NaN, ""), lines)).getDocumentElement();
    double[] places =
        elements(plot, "text").stream()
            .filter(text -> is(text, "name"))
            .mapToDouble(text -> number(text, "y"))
            .sorted()
            .toArray();
    assertThat(places).hasSize(18);
    assertThat(places[0]).isGreaterThan(10);
    assertThat(places[17]).isLessThan(300);
    for (int i = 1; i < places.length; i++) {
      assertThat(places[i] - places[i - 1]).isGreaterThan(11);
    }
  }

  @Test
  void numbersAreTheSameInEveryCountry() {
    Locale before = Locale.getDefault();
    List<Bar> bars = List.of(new Bar("a", new Estimate(1.5, 0.25), "1.5", ""));
    List<Line> lines = List.of(new Line("a", "c0", List.of(point(1, 2, 0.5), point(3, 4, 0.5))));
    Axes axes = new Axes("t", "x", 2, "m");
    String plots = BarPlot.svg("t", bars) + LinePlot.svg(axes, lines);
    try {
      Locale.setDefault(Locale.GERMANY);
      assertThat(BarPlot.svg("t", bars) + LinePlot.svg(axes, lines)).isEqualTo(plots);
    } finally {
      Locale.setDefault(before);
    }
  }

  private static Point point(double x, double y, double confidence) {
    return new Point(x, new Estimate(y, confidence));
  }

  private static Document parsed(String markup) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(markup)));
  }

  private static List<Element> elements(Element in, String name) {
    NodeList nodes = in.getElementsByTagName(name);
    return IntStream.range(0, nodes.getLength()).mapToObj(i -> (Element) nodes.item(i)).toList();
  }

  private static boolean is(Element element, String style) {
    return element.getAttribute("class").equals(style);
  }

  private static double number(Element element, String attribute) {
    return Double.parseDouble(element.getAttribute(attribute));
  }
}
