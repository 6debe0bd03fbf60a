package dev.warmpath.lab.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.lab.bench.LoopbackPorts;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigTree;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The console of a router of two in a mesh. */
@Timeout(240)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RoutersBrowserTest {

  private static final List<RouterProcess> ROUTERS = new ArrayList<>();
  private static Browser browser;

  @BeforeAll
  static void start() throws Exception {
    browser = Browser.start();
    List<Integer> ports = List.of(LoopbackPorts.free(), LoopbackPorts.free());
    for (int i = 0; i < ports.size(); i++) {
      ConfigTree tree =
          ConfigTree.empty()
              .set("listen.port", 0, "test")
              .set("admin.port", 0, "test")
              .set("shutdown.deadline-ms", 200, "test")
              .set("cluster.mode", "mesh", "test")
              .set("cluster.insecure", true, "test")
              .set("cluster.member", "router-" + i, "test")
              .set("cluster.host", "127.0.0.1", "test")
              .set("cluster.port", ports.get(i), "test")
              .set(
                  "cluster.peers", ports.stream().map(port -> "127.0.0.1:" + port).toList(), "test")
              .set("cluster.expire-ms", 600_000, "test"); // who left stays in the table
      ROUTERS.add(RouterProcess.start(tree.config()));
    }
  }

  @AfterAll
  static void stop() {
    ROUTERS.forEach(RouterProcess::close);
    if (browser != null) {
      browser.close();
    }
  }

  @ParameterizedTest
  @CsvSource({"light,1400,900", "dark,1400,900", "light,390,844", "dark,390,844"})
  void othersAreShownInBothThemesAndOnAPhone(String theme, int width, int height) {
    browser.theme(theme);
    browser.screen(width, height);
    open("fleet");
    browser.await("nav a[href='#routers']:not([hidden])").click();
    browser.await("tr[data-router=router-1] .state.good");
    assertThat(row("router-0")).startsWith("this router|–|0|0");
    assertThat(row("router-1")).matches("in step\\|\\d[^|]*s\\|0\\|0");
    browser.awaitText("no neighbour knew more");
    browser.awaitText("B/s"); // of two looks
    assertThat(browser.await(".tiles").getText())
        .contains("B/s")
        .doesNotContain("NaN", "undefined");
    assertThat(browser.run("return document.documentElement.scrollWidth - innerWidth"))
        .isEqualTo(0L);
    browser.hasNotComplained();
  }

  /** Comes last: the other router does not come back. */
  @Test
  @Order(Integer.MAX_VALUE)
  void whoIsGoneIsShownToBe() {
    browser.screen(1400, 900);
    open("routers");
    browser.await("tr[data-router=router-1] .state.good");
    browser.awaitText("none was lost");
    ROUTERS.remove(1).close();
    browser.await("tr[data-router=router-1] .state.bad");
    browser.awaitText("router-1 is not reachable.");
    browser.awaitText("This router goes on alone");
    browser.awaitText("one was lost once");
    browser.hasNotComplained();
  }

  /** The cells of a router's row behind its name. */
  private String row(String router) {
    String cells =
        "return [...document.querySelectorAll('tr[data-router=' + arguments[0] + '] td')]"
            + ".map(e => e.textContent).join('|')";
    return browser.run(cells, router).toString().replace('\u202f', ' ');
  }

  private void open(String view) {
    browser.open("http://127.0.0.1:" + ROUTERS.get(0).adminPort() + "/admin/ui#" + view);
  }
}
