package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.demo.LoadReport.Predictions;
import dev.warmpath.simulator.study.Distribution;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DemoReportTest {

  private final DemoReport report =
      new DemoReport(
          new LinkedHashMap<>(
              Map.of(
                  "round-robin", load(0.25, 1, new Predictions(9, 0, 2)),
                  "warm", load(0.81234, 0, new Predictions(10, 0, 1)))));

  @Test
  void jsonHasWhatTheDocumentationPromises() throws Exception {
    JsonNode json = new ObjectMapper().readTree(report.json());

    JsonNode warm = json.path("policies").path("warm");
    assertThat(warm.path("hitRate").asDouble()).isEqualTo(0.8123);
    assertThat(warm.path("ttftMsP50").asDouble()).isEqualTo(12.5);
    assertThat(warm.path("ttftMsP99").asDouble()).isEqualTo(99.9);
    assertThat(warm.path("requests").asInt()).isEqualTo(10);
    assertThat(json.path("policies").path("round-robin").path("errors").asInt()).isEqualTo(1);
    assertThat(json.path("prediction").path("compared").asInt()).isEqualTo(19);
    assertThat(json.path("prediction").path("over").asInt()).isZero();
    assertThat(json.path("prediction").path("under").asInt()).isEqualTo(3);
  }

  @Test
  void tableNamesEveryPolicy() {
    assertThat(report.table())
        .contains("round-robin", "25.0 %", "warm", "81.2 %", "0 over, 1 under, of 10", "a 10");
  }

  private static LoadReport load(double hitRate, int errors, Predictions prediction) {
    Distribution firstToken = new Distribution(20, 12.5, 50, 99.9);
    Map<String, Integer> failures = errors == 0 ? Map.of() : Map.of("status 503", errors);
    return new LoadReport(10, failures, hitRate, firstToken, 5, Map.of("a", 10), prediction);
  }
}
