package dev.warmpath.simulator.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.demo.DemoFleet;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.engine.cache.KvCacheConfig;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.load.ChatClient;
import dev.warmpath.simulator.load.ChatLoad;
import dev.warmpath.simulator.load.LoadRun;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;

/** The console in a real browser, before a router with four simulated engines and their load. */
@Timeout(240)
class ConsoleBrowserTest {

  private static final String MODEL = "sim";
  private static final String HOSTILE =
      "<img src=x onerror=window.owned=1><script>window.owned=1</script>";
  private static final Map<String, String> SIGNS_OF_DATA =
      Map.of(
          "fleet", ".cell.good",
          "now", ".tiles b:not(:empty)",
          "explain", ".scores tr.winner",
          "decisions", ".decisions tbody td",
          "prefixes", ".holders .held[d^=M]");

  private static final ModelTokenizer TOKENIZER = ModelTokenizer.embedded();
  private static Browser browser;
  private static DemoFleet fleet;

  @BeforeAll
  static void start() throws Exception {
    browser = Browser.start();
    fleet = new DemoFleet(TOKENIZER, engine(), 4, "warm");
    fleet.awaitReady();
    ChatClient client = new ChatClient(fleet.url(), Duration.ofSeconds(60), System::nanoTime);
    new LoadRun(new ChatLoad(MODEL, 80, 12, 10, 3, 40, 60, 8, 1), client, 4, done -> {}).run();
    ask(HOSTILE.repeat(20));
  }

  private static LiveEngineOptions engine() {
    KvCacheConfig cache = KvCacheConfig.fullAttention(16, 600);
    LiveEngineOptions options =
        LiveEngineOptions.of(
            MODEL, new EngineConfig(cache, 1024, 64, cache.maxSequenceTokens(), StepCost.H100X4));
    return options.pace(20, options.answerTokens());
  }

  private static void ask(String prompt) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(fleet.url() + "/v1/chat/completions"))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body(prompt)))
            .build();
    int status = HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode();
    assertThat(status).isEqualTo(200);
  }

  private static String body(String prompt) throws Exception {
    return new ObjectMapper()
        .writeValueAsString(
            Map.of(
                "model",
                MODEL,
                "max_tokens",
                2,
                "messages",
                List.of(Map.of("role", "user", "content", prompt))));
  }

  @AfterAll
  static void stop() {
    if (fleet != null) {
      fleet.close();
    }
    if (browser != null) {
      browser.close();
    }
    TOKENIZER.close();
  }

  @AfterEach
  void thePageHasNotComplained() {
    browser.hasNotComplained();
  }

  @Test
  void eachViewShowsDataWithoutComplaints() throws Exception {
    int width = 1400;
    browser.theme("light");
    browser.screen(width, 900);
    for (String view : List.of("fleet", "now", "explain", "decisions", "prefixes")) {
      open(view);
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

  private static void explain(String prompt) throws Exception {
    WebElement area = browser.await("textarea");
    area.clear();
    area.sendKeys(body(prompt));
    browser.await("#view").findElement(By.cssSelector("form button[type=submit]")).click();
  }

  private static void open(String view) {
    browser.open(fleet.adminUrl() + "/admin/ui#" + view);
  }
}
