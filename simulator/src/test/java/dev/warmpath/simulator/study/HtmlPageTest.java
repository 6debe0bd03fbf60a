package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

final class HtmlPageTest {

  private static final String POLICY = "a<b>&\"c\"";

  @Test
  void standsAlone() {
    String page = HtmlPage.of(Reports.report(Reports.grid()));
    assertThat(page)
        .startsWith("<!DOCTYPE html>")
        .contains("prefers-color-scheme: dark")
        .contains("name=\"viewport\"")
        .doesNotContain("<script", "<link", "src=", "href=", "url(", "@import");
  }

  @Test
  void saysWhatWasRun() throws Exception {
    String text = page(Reports.report(Reports.grid())).getDocumentElement().getTextContent();
    assertThat(text)
        .contains("warmpath simulate --trace 'a & b'")
        .contains("chats, 1,000 requests")
        .contains("one copy for each eight replicas")
        .contains("the first 10 % of the time is not counted")
        .contains("3 a cell")
        .contains("h100x4: fast")
        .contains("20,000 a second")
        .contains("would hit 0.750 of all prompt tokens");
  }

  @Test
  void hasATableAndThreePlotsOfBarsForEachSetting() throws Exception {
    Document page = page(Reports.report(Reports.grid()));
    assertThat(elements(page, "table", "")).hasSize(4);
    assertThat(elements(page, "g", "bar")).hasSize(4 * 3 * 2);
    Element table = elements(page, "table", "").get(0);
    assertThat(elements(table, "tr", "")).hasSize(3);
    assertThat(elements(table, "td", "best")).hasSize(10);
    assertThat(elements(table, "td", "best").get(0).getTextContent()).isEqualTo("100 ± 5");
    assertThat(elements(table, "td", "near").stream().map(Element::getTextContent))
        .contains("≈ 109 ± 5");
    assertThat(elements(table, "th", "").get(0).getTextContent()).isEqualTo("policy");
    assertThat(table.getTextContent()).contains(POLICY);
  }

  @Test
  void hasLinesAcrossLoadsAndFleets() throws Exception {
    Document page = page(Reports.report(Reports.grid()));
    // two fleets: mean, p99 and hit rate by load; two loads: mean and hit rate by fleet
    int plots = 2 * 3 + 2 * 2;
    int oracles = 2 * 4;
    assertThat(elements(page, "path", "way")).hasSize(plots * 2 + oracles);
    assertThat(elements(page, "line", "mark")).as("the knee, by load").hasSize(2 * 3);
    assertThat(page.getDocumentElement().getTextContent())
        .as("forty times as slow")
        .contains("TTFT mean, ms, logarithmic");
  }

  @Test
  void oneSettingHasNoLines() throws Exception {
    StudyReport report = Reports.report(List.of(Reports.cell(Cells.cell("warm"), 100, Double.NaN)));
    Document page = page(report);
    assertThat(elements(page, "path", "way")).isEmpty();
    assertThat(elements(page, "path", "interval")).isEmpty();
    assertThat(elements(page, "g", "bar")).hasSize(3);
  }

  private static Document page(StudyReport report) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(HtmlPage.of(report))));
  }

  /** Elements whose classes contain {@code style}; all if it is empty. */
  private static List<Element> elements(Object in, String name, String style) {
    NodeList nodes =
        in instanceof Document document
            ? document.getElementsByTagName(name)
            : ((Element) in).getElementsByTagName(name);
    return java.util.stream.IntStream.range(0, nodes.getLength())
        .mapToObj(i -> (Element) nodes.item(i))
        .filter(element ->
            style.isEmpty() || List.of(element.getAttribute("class").split(" ")).contains(style))
        .toList();
  }
}
