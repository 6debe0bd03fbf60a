package dev.warmpath.lab.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.simulator.demo.LoadReport;
import dev.warmpath.simulator.demo.LoadReport.Predictions;
import dev.warmpath.simulator.demo.SessionRun.SessionReport;
import dev.warmpath.simulator.study.Distribution;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FleetBenchReportTest {

  private static final Map<String, Integer> FAILED = Map.of("status 503", 2, "IOException", 1);

  private final FleetBenchReport report =
      new FleetBenchReport(
          List.of("warm", "peer"),
          List.of(
              cell("warm", 1, 100, 0.8, Map.of()),
              cell("peer", 1, 150, 0.6, FAILED),
              cell("peer", 2, 300, 0.4, Map.of()),
              cell("warm", 2, 120, 0.7, Map.of()),
              cell("warm", 3, 140, 0.7, Map.of())),
          List.of(new FleetBenchReport.Failure("peer", 3, "peer ended with 1")));

  @Test
  void cellHoldsItsFiguresAndErrorsByReason() {
    JsonNode cell = report.json().at("/cells/1");
    assertThat(cell.path("router").asText()).isEqualTo("peer");
    assertThat(cell.path("seed").asInt()).isEqualTo(1);
    assertThat(cell.path("requests").asInt()).isEqualTo(50);
    assertThat(cell.path("errors").asInt()).isEqualTo(3);
    assertThat(cell.at("/errorReasons/status 503").asInt()).isEqualTo(2);
    assertThat(cell.path("hitRate").asDouble()).isEqualTo(0.6);
    assertThat(cell.at("/ttftMs/mean").asDouble()).isEqualTo(150);
    assertThat(cell.at("/ttftMs/p90").asDouble()).isEqualTo(450);
    assertThat(cell.path("tpotMs").asDouble()).isEqualTo(12.346);
    assertThat(cell.at("/lateMs/p99").asDouble()).isEqualTo(4);
  }

  /** Student's t is 4.303 for three seeds and 12.706 for two. */
  @Test
  void totalsCoverTheSeedsWithTheirInterval() {
    JsonNode totals = report.json().path("totals");
    assertThat(totals.findValuesAsText("router")).containsExactly("warm", "peer");
    assertThat(totals.at("/0/seeds").asInt()).isEqualTo(3);
    assertThat(totals.at("/0/requests").asInt()).isEqualTo(150);
    assertThat(totals.at("/0/ttftMeanMs/mean").asDouble()).isEqualTo(120);
    assertThat(totals.at("/0/ttftMeanMs/ci95").asDouble())
        .isCloseTo(4.303 * 20 / Math.sqrt(3), within(0.01));
    assertThat(totals.at("/1/hitRate/mean").asDouble()).isEqualTo(0.5);
    assertThat(totals.at("/1/errors").asInt()).isEqualTo(3);
  }

  @Test
  void ratiosCompareEqualSeeds() {
    JsonNode ratio = report.json().at("/totals/1/ratios/ttftMeanMs");
    assertThat(ratio.path("mean").asDouble()).isEqualTo((1.5 + 2.5) / 2);
    assertThat(ratio.path("ci95").asDouble()).isCloseTo(12.706 / 2, within(0.001));
    assertThat(report.json().at("/totals/0/ratios/hitRate/mean").asDouble()).isEqualTo(1);
  }

  @Test
  void failuresOfPeersAreNotOurs() {
    assertThat(report.isFlawless(Set.of("warm"))).as("a turn is missing").isFalse();
    FleetBenchReport whole = new FleetBenchReport(report.routers(), report.cells(), List.of());
    assertThat(whole.isFlawless(Set.of("warm"))).isTrue();
    assertThat(whole.isFlawless(Set.of("warm", "peer"))).isFalse();
    assertThat(report.json().at("/failures/0/error").asText()).isEqualTo("peer ended with 1");
  }

  @Test
  void tableAndLinesNameWhatMatters() {
    StringWriter text = new StringWriter();
    report.print(new PrintWriter(text));
    assertThat(text.toString())
        .contains("120 ±50", "0.500", "2.00 ±6.35", "seed 3, peer: peer ended with 1");
    assertThat(report.cells().get(1).line())
        .isEqualTo(
            "seed 1, peer: n 50, hit rate 0.600, TTFT ms mean 150 p50 75 p90 450 p99 600,"
                + " TPOT ms 12.3, errors {IOException=1, status 503=2}");
    SessionReport slow =
        new SessionReport(report.cells().get(0).report().load(), new Distribution(9, 1, 2, 80));
    assertThat(new FleetBenchReport.FleetCell("warm", 1, slow).line())
        .endsWith("; THE LOAD WAS LATE, p99 80 ms");
  }

  private static FleetBenchReport.FleetCell cell(
      String router, long seed, double ttft, double hitRate, Map<String, Integer> failures) {
    LoadReport load =
        new LoadReport(
            50,
            failures,
            hitRate,
            new Distribution(ttft, ttft / 2, 3 * ttft, 4 * ttft),
            12.3456,
            Map.of(),
            new Predictions(0, 0, 0));
    return new FleetBenchReport.FleetCell(
        router, seed, new SessionReport(load, new Distribution(2, 1, 3, 4)));
  }
}
