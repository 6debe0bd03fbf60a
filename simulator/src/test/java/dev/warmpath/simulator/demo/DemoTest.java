package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.demo.Demo.DemoPlan;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class DemoTest {

  private static final Duration IDLE = Duration.ofSeconds(60);

  @Test
  void warmServesMoreFromCacheThanTakingTurns() throws Exception {
    StringBuilder shown = new StringBuilder();
    try (Demo demo = new Demo(new DemoPlan(90, 2, 20), IDLE, true, shown::append)) {
      DemoReport report = demo.run();

      assertThat(report.errors()).isZero();
      assertThat(report.of("warm").hitRate()).isGreaterThan(report.of("round-robin").hitRate());
      assertThat(report.prediction().compared()).isGreaterThan(150);
      assertThat(demo.invitation()).contains("/admin/fleet", "/metrics");
      assertThat(demo.invitation()).contains("/admin/ui   (round-robin)", "/admin/ui   (warm)");
      assertThat(shown).contains("round-robin", "watch warm at http", "90/90");

      demo.keepServing();
      List<String> pages = pages(demo.invitation());
      assertThat(pages).hasSize(2);
      for (String admin : pages) {
        awaitDecision(100, admin);
      }
    }
  }

  /** The addresses of the consoles, without the last part. */
  private static List<String> pages(String invitation) {
    return Pattern.compile("(http\\S+)/ui")
        .matcher(invitation)
        .results()
        .map(found -> found.group(1))
        .toList();
  }

  /** Requests beyond the {@code 90} of the run are those of the gentle load. */
  private static void awaitDecision(long number, String admin) throws Exception {
    URI newest = URI.create(admin + "/decisions?limit=1");
    HttpClient http = HttpClient.newHttpClient();
    long last = 0;
    while (last < number) {
      String answer =
          http.send(HttpRequest.newBuilder(newest).build(), BodyHandlers.ofString()).body();
      last = new ObjectMapper().readTree(answer).path("decisions").path(0).path("id").asLong();
    }
  }
}
