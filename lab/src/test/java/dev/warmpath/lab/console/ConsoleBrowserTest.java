package dev.warmpath.lab.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/** The console in a real browser, before a router with four simulated engines and their load. */
@Timeout(240)
class ConsoleBrowserTest {

  private static final String HOSTILE =
      "<img src=x onerror=window.owned=1><script>window.owned=1</script>";
  private static final Map<String, String> SIGNS_OF_DATA =
      Map.of(
          "fleet", ".cell.good",
          "now", ".tiles b:not(:empty)",
          "explain", ".scores tr.winner",
          "decisions", ".decisions tbody td",
          "prefixes", ".holders .held[d^=M]");

  /** The page takes a dialog out some time after it was closed. */
  private static final String NO_DIALOG = "body:not(:has(dialog))";

  private static Browser browser;
  private static SimulatedFleet fleet;

  @BeforeAll
  static void start() throws Exception {
    browser = Browser.start();
    fleet = new SimulatedFleet(4, 80);
    fleet.chat(HOSTILE.repeat(20));
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

  @ParameterizedTest
  @CsvSource({"light,1400,900", "dark,1400,900", "light,390,844", "dark,390,844"})
  void eachViewShowsDataInBothThemesAndOnAPhone(String theme, int width, int height)
      throws Exception {
    browser.theme(theme);
    browser.screen(width, height);
    open("fleet");
    for (String view : List.of("fleet", "now", "explain", "decisions", "prefixes")) {
      browser.await("nav a[href='#" + view + "']").click();
      if (view.equals("explain")) {
        explain("Hello");
      }
      browser.await(SIGNS_OF_DATA.get(view));
      assertThat(browser.await("nav a[aria-current]").getDomAttribute("href"))
          .isEqualTo("#" + view);
      assertThat(browser.run("return document.documentElement.scrollWidth - innerWidth"))
          .as(view + " at " + width)
          .isEqualTo(0L);
      browser.hasNotComplained();
    }
  }

  @Test
  void aRouterThatIsAloneShowsNoOthers() {
    desktop("routers");
    browser.await(".cell.good");
    assertThat(browser.count("nav a[href='#routers'][hidden]")).isOne();
    assertThat(browser.count("nav a:not([hidden])")).isEqualTo(5);
  }

  /** Browsers open six connections to one host, and keep pages for the way back. */
  @Test
  void aPageThatWasLeftHoldsNoConnection() throws Exception {
    for (int visit = 0; visit < 3; visit++) {
      desktop("fleet");
      browser.await(".cell.good");
    }
    browser.open("about:blank");
    fleet.awaitNoListener();
  }

  @Test
  void keysAloneReachViewsAndEngines() {
    desktop("fleet");
    browser.await(".cell.good");
    browser.tabTo("nav a[href='#now']");
    browser.press(Keys.ENTER);
    browser.await(".tiles");
    browser.tabTo("nav a[href='#fleet']");
    browser.press(Keys.ENTER);
    browser.await(".cell");
    browser.tabTo(".cell");
    browser.press(Keys.ARROW_RIGHT);
    browser.press(Keys.ENTER);
    assertThat(browser.await(".panel h2").getText()).isEqualTo("engine-1");
    browser.press(Keys.ESCAPE);
    assertThat(browser.run("return document.activeElement.dataset.engine")).isEqualTo("engine-1");
    browser.await(".panel[hidden]");
  }

  @Test
  void drainingAsksFirst() throws Exception {
    desktop("fleet?engine=engine-3");
    browser.awaitText("Drain…").click();
    browser.awaitText("Cancel").click();
    browser.await(NO_DIALOG);
    assertThat(fleet.replica("engine-3").path("draining").asBoolean()).isFalse();

    browser.awaitText("Drain…").click();
    browser.await("dialog button[type=submit]").click();
    browser.awaitText("engine-3 drains.");
    assertThat(fleet.replica("engine-3").path("draining").asBoolean()).isTrue();
    browser.await(".cell.note[data-engine=engine-3]");

    browser.await(".panel .actions button:first-child").click();
    browser.awaitText("engine-3 takes requests again.");
    assertThat(fleet.replica("engine-3").path("draining").asBoolean()).isFalse();
  }

  @Test
  void removingAsksFirst() throws Exception {
    fleet.admin(
        "replicas",
        "{\"name\":\"spare\",\"url\":\""
            + fleet.engine(0).url().toString().replace("127.0.0.1", "localhost")
            + "\"}");
    desktop("fleet?engine=spare");
    browser.awaitText("Remove…").click();
    browser.press(Keys.ESCAPE);
    browser.await(NO_DIALOG);
    assertThat(fleet.replica("spare").isMissingNode()).isFalse();

    browser.awaitText("Remove…").click();
    browser.await("dialog button.danger").click();
    browser.awaitText("spare leaves.");
    browser.await("#view:not(:has([data-engine=spare]))");
    assertThat(fleet.replica("spare").isMissingNode()).isTrue();
    browser.await(".panel[hidden]");
  }

  @Test
  void thePanelCountsWhatHappenedOnAStream() {
    desktop("fleet?engine=engine-1");
    browser.awaitText("replays");
    assertThat(browser.count(".panel dd")).isGreaterThan(20);
    assertThat(browser.await(".panel").getText()).doesNotContain("gaps", "undefined", "NaN");
  }

  @Test
  void aReplicaOfTheConfigurationCannotBeRemovedHere() {
    desktop("fleet?engine=engine-2");
    browser.awaitText("remove it there");
    assertThat(browser.count(".panel .danger:disabled")).isOne();
  }

  @Test
  void aPromptIsTextAndNeverMarkup() throws Exception {
    desktop("explain");
    explain(HOSTILE);
    browser.await(".scores tr.winner");
    assertThat(tokens()).contains(HOSTILE);

    open("decisions");
    browser.await(".decisions tbody a").click();
    browser.await(".scores tr.winner");
    assertThat(tokens()).contains("onerror=window.owned=1");
    assertThat(browser.awaitText("the engine reported").getText()).startsWith("Decision ");

    assertThat(browser.run("return window.owned === undefined")).isEqualTo(true);
    assertThat(browser.count("img, #view script")).isZero();
  }

  @Test
  void anExplanationShowsOtherPolicies() throws Exception {
    desktop("explain");
    explain("Hello");
    assertThat(browser.awaitText("What other policies would do").isDisplayed()).isTrue();
    browser.awaitText("round-robin");
  }

  @Test
  void whatIsNoJsonIsNotSent() {
    desktop("explain");
    browser.await("textarea").sendKeys("{");
    browser.await("form button[type=submit]").click();
    browser.awaitText("This is no JSON");
  }

  @Test
  void aPauseHoldsThePage() {
    desktop("fleet");
    browser.await(".connection[data-state=live]");
    browser.await("#pause").click();
    browser.await(".connection[data-state=paused]");
    browser.await("#pause").click();
    browser.await(".connection[data-state=live]");
  }

  @Test
  void theThemeCanBeChosen() {
    desktop("fleet");
    browser.theme("light");
    String light = browser.await("body").getCssValue("background-color");
    browser.await("#theme").click();
    browser.await("#theme").click();
    assertThat(browser.await("#theme").getDomAttribute("aria-label")).isEqualTo("Colours: dark");
    assertThat(browser.await("body").getCssValue("background-color")).isNotEqualTo(light);
    browser.await("#theme").click();
    assertThat(browser.await("body").getCssValue("background-color")).isEqualTo(light);
  }

  @Test
  void sharesBelowATenthOfAPercentAreNotZero() {
    desktop("fleet");
    Object shown =
        browser.run(
            "return import('./ui/format.js').then(f => [0, 0.0002, 0.05, 0.4].map(f.percent).join())");
    assertThat(shown.toString().replace('\u202f', ' ')).isEqualTo("0 %,<0.1 %,5.0 %,40 %");
  }

  /** The prompt's text, without the marks that count who holds it. */
  private static String tokens() {
    browser.await(".tokens .segment");
    return browser
        .run("return [...document.querySelectorAll('.segment')].map(e => e.textContent).join('')")
        .toString();
  }

  private static void explain(String prompt) throws Exception {
    WebElement area = browser.await("textarea");
    area.clear();
    area.sendKeys(SimulatedFleet.body(prompt));
    browser.await("#view").findElement(By.cssSelector("form button[type=submit]")).click();
  }

  private static void desktop(String view) {
    browser.screen(1400, 900);
    open(view);
  }

  private static void open(String view) {
    browser.open(fleet.view(view));
  }
}
