package dev.warmpath.lab.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.bench.ProcFiles.Footprint;
import dev.warmpath.lab.gateway.TurnRunner.ColdStart;
import dev.warmpath.lab.gateway.TurnRunner.Turn;
import dev.warmpath.simulator.study.Spread;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GatewayReportTest {

  @Test
  void medianOfManyAndOfTwo() {
    assertThat(Spread.of(new double[] {9, 1, 4})).isEqualTo(new Spread(4, 1, 9));
    assertThat(Spread.of(new double[] {9, 1})).isEqualTo(new Spread(5, 1, 9));
    assertThat(Spread.of(new double[0]).median()).isNaN();
  }

  @Test
  void latencyIsAddedToThatOfTheSameRound() {
    JsonNode cell = ours(turns());
    assertThat(cell.path("cell").asText()).isEqualTo("2k-plain");
    assertThat(cell.path("n").asInt()).isEqualTo(300);
    assertThat(cell.path("errors").asInt()).isZero();
    assertThat(cell.path("cpuMicrosPerRequest").toString())
        .isEqualTo("{\"median\":400.0,\"min\":390.5,\"max\":450.0}");
    // 500 - 200, 900 - 650, 600 - 250
    assertThat(cell.path("addedFirstByteMicros").path("p50").asDouble()).isEqualTo(300);
    assertThat(cell.path("firstByteMicros").path("p50").asDouble()).isEqualTo(600);
  }

  @Test
  void replicasThemselvesHaveNoCpuTime() {
    JsonNode direct = report(turns()).json().path("cells").path(0);
    assertThat(direct.path("name").asText()).isEqualTo("direct");
    assertThat(direct.path("cpuMicrosPerRequest").isNull()).isTrue();
    assertThat(direct.path("addedFirstByteMicros").path("p50").asDouble()).isZero();
  }

  @Test
  void turnWithoutAnswersIsNotTakenForAFastOne() {
    Turn failed = turn(0, "warmpath", 0, 0, 1, Map.of("no answer in time", 100));
    GatewayReport report = report(List.of(turn(0, "direct", 100, Double.NaN, 200), failed));
    JsonNode cell = report.json().path("cells").path(1);
    assertThat(report.isFlawless()).isFalse();
    assertThat(cell.path("errors").asInt()).isEqualTo(100);
    assertThat(cell.path("errorReasons").path("no answer in time").asInt()).isEqualTo(100);
    assertThat(cell.path("cpuMicrosPerRequest").isNull()).isTrue();
    assertThat(cell.path("firstByteMicros").path("p50").isNull()).isTrue();
    assertThat(cell.path("addedFirstByteMicros").path("p99").isNull()).isTrue();
    assertThat(table(report)).contains("100 errors: {no answer in time=100}");
  }

  @Test
  void errorsOfPeersAreNotOurs() {
    Turn peer = turn(0, "haproxy", 50, 70, 300, Map.of("status 503", 50));
    assertThat(report(List.of(turn(0, "direct", 100, Double.NaN, 200), peer)).isFlawless())
        .isTrue();
  }

  @Test
  void partsThatWereLeftOutAreNotThere() {
    JsonNode json = new GatewayReport(List.of(), 0, null, null, Double.NaN, Double.NaN).json();
    assertThat(json.has("cold")).isFalse();
    assertThat(json.has("idleCpuMillisPerSecond")).isFalse();
    assertThat(json.has("secondsToReady")).isFalse();
  }

  @Test
  void coldAndIdleAreThere() {
    Percentiles times = new Percentiles(5_800_000, 2_000_000_000, 3_000_000_000L);
    ColdStart cold = new ColdStart(2.345, 0.98765, 9_900, times, 812.34, Map.of());
    GatewayReport report = new GatewayReport(List.of(), 0, null, cold, 41.96, 1.876);
    assertThat(report.json().path("cold").toString())
        .isEqualTo(
            "{\"answeredShare\":0.9877,\"p50Millis\":5.8,\"p99Millis\":2000.0,"
                + "\"cpuMicrosPerRequest\":812.3,\"cpuSecondsToReady\":2.35,\"errors\":0}");
    assertThat(report.json().path("idleCpuMillisPerSecond").asDouble()).isEqualTo(42);
    assertThat(report.json().path("secondsToReady").asDouble()).isEqualTo(1.88);
    assertThat(table(report)).contains("98.8 %", "idle: 42.0 ms", "ready after 1.88 s");
  }

  @Test
  void statesAreNeverMixed() {
    Footprint footprint = new Footprint(250L << 20, 33);
    GatewayStates.State cold =
        new GatewayStates.State(0, turn(0, "warmpath", 100, 900, 700), 900, Double.NaN);
    Turn failed = turn(1, "warmpath", 99, 300, 400, Map.of("status 503", 1));
    GatewayStates states =
        new GatewayStates(
            "2k-plain",
            new TurnRunner.Occupied(4.5, footprint),
            List.of(cold, new GatewayStates.State(60, failed, 300, 450)),
            2.5,
            footprint);
    GatewayReport report = new GatewayReport(List.of(), 0, states, null, Double.NaN, Double.NaN);
    JsonNode json = report.json().path("states");
    assertThat(json.path("ready").toString())
        .isEqualTo("{\"residentMib\":250,\"threads\":33,\"cpuSeconds\":4.5}");
    assertThat(json.path("list").findValuesAsText("cpuMicrosPerRequest"))
        .containsExactly("900.0", "300.0");
    assertThat(json.path("list").path(0).path("cpuMicrosPerRequestBefore").isNull()).isTrue();
    assertThat(json.path("list").path(1).path("residentMib").asInt()).isEqualTo(300);
    assertThat(json.path("idle").path("cpuMillisPerSecond").asDouble()).isEqualTo(2.5);
    assertThat(table(report)).contains("1 errors: {status 503=1}", "idle after that load: 2.5 ms");
  }

  private static List<Turn> turns() {
    return List.of(
        turn(0, "direct", 100, Double.NaN, 200),
        turn(0, "warmpath", 100, 450, 500),
        turn(1, "warmpath", 100, 390.5, 900),
        turn(1, "direct", 100, Double.NaN, 650),
        turn(2, "direct", 100, Double.NaN, 250),
        turn(2, "warmpath", 100, 400, 600));
  }

  private static JsonNode ours(List<Turn> turns) {
    JsonNode cell = report(turns).json().path("cells").path(1);
    assertThat(cell.path("name").asText()).isEqualTo("warmpath");
    return cell;
  }

  private static GatewayReport report(List<Turn> turns) {
    return new GatewayReport(turns, 0, null, null, Double.NaN, Double.NaN);
  }

  private static Turn turn(int round, String gateway, int answered, double cpu, long firstMicros) {
    return turn(round, gateway, answered, cpu, firstMicros, Map.of());
  }

  private static Turn turn(
      int round,
      String gateway,
      int answered,
      double cpu,
      long firstMicros,
      Map<String, Integer> failures) {
    Percentiles times =
        new Percentiles(1_000 * firstMicros, 2_000 * firstMicros, 3_000 * firstMicros);
    return new Turn(
        round,
        "2k-plain",
        gateway,
        answered,
        failures,
        cpu,
        times,
        times,
        times,
        times,
        new Footprint(300L << 20, 40),
        0.5);
  }

  private static String table(GatewayReport report) {
    StringWriter text = new StringWriter();
    report.print(new PrintWriter(text));
    return text.toString();
  }
}
