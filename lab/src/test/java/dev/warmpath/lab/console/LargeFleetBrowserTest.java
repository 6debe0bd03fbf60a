package dev.warmpath.lab.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The console before 200 simulated engines: one is down, three are draining. */
@Timeout(240)
class LargeFleetBrowserTest {

  private static final int ENGINES = 200;
  private static final List<String> DRAINING = List.of("engine-7", "engine-70", "engine-170");

  private static Browser browser;
  private static SimulatedFleet fleet;

  @BeforeAll
  static void start() throws Exception {
    browser = Browser.start();
    fleet = new SimulatedFleet(ENGINES, ENGINES / 2);
    for (String replica : DRAINING) {
      fleet.admin("replicas/" + replica + "/drain", "");
    }
    fleet.engine(11).kill();
  }

  @AfterAll
  static void stop() {
    if (fleet != null) {
      fleet.close();
    }
    if (browser != null) {
      browser.close();
    }
  }

  @AfterEach
  void thePageHasNotComplained() {
    browser.hasNotComplained();
  }

  @Test
  void theMapShowsAllAndFilters() {
    desktop();
    assertThat(browser.count(".cell")).isEqualTo(ENGINES);
    assertThat(browser.count(".fleet-table tbody tr")).isEqualTo(ENGINES);

    browser.awaitButton("4").click(); // need attention
    assertThat(engines(".cell"))
        .containsExactly("engine-7", "engine-11", "engine-70", "engine-170");
    browser.awaitButton("4").click();
    assertThat(browser.count(".cell")).isEqualTo(ENGINES);
    show("draining");
    assertThat(engines(".cell")).containsExactlyElementsOf(DRAINING);
    assertThat(engines("tbody tr")).containsExactlyElementsOf(DRAINING);
    show("all");
    browser.await("input[type=search]").sendKeys("Engine-19");
    assertThat(browser.count(".cell")).isEqualTo(11);
    browser.awaitText("11 of 200 engines");
  }

  @Test
  void theTableSorts() {
    desktop();
    assertThat(engines("tbody tr").subList(0, 3))
        .containsExactly("engine-0", "engine-1", "engine-2");
    browser.awaitButton("State").click();
    assertThat(engines("tbody tr").get(0)).isEqualTo("engine-11");
    browser.await("thead th:nth-child(12) button").click();
    assertThat(held()).isSortedAccordingTo(Comparator.reverseOrder()).hasSize(ENGINES);
    browser.await("thead th:nth-child(12) button").click();
    assertThat(held()).isSorted();
    assertThat(browser.count("thead [aria-sort=ascending]")).isOne();
  }

  @Test
  void itFitsAPhone() {
    browser.screen(390, 844);
    open();
    assertThat(browser.count(".cell")).isEqualTo(ENGINES);
    assertThat(browser.run("return document.documentElement.scrollWidth - innerWidth"))
        .isEqualTo(0L);
    browser.await("nav a[href='#prefixes']").click();
    browser.await(".holders .held[d^=M]");
    assertThat(browser.run("return document.documentElement.scrollWidth - innerWidth"))
        .isEqualTo(0L);
  }

  private static void desktop() {
    browser.screen(1400, 900);
    open();
  }

  /** Shows the fleet once its state is that of the preparations. */
  private static void open() {
    browser.open(fleet.view("fleet"));
    browser.await(".cell.bad[data-engine=engine-11]");
    browser.await(".cell.note[data-engine=engine-170]");
  }

  private static void show(String filter) {
    browser.await("option[value=" + filter + "]").click();
  }

  @SuppressWarnings("unchecked")
  private static List<String> engines(String css) {
    return (List<String>)
        browser.run(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.dataset.engine)", css);
  }

  @SuppressWarnings("unchecked")
  private static List<Long> held() {
    return (List<Long>)
        browser.run(
            "return [...document.querySelectorAll('tbody td:nth-child(12)')].map(e => Number(e.textContent))");
  }
}
