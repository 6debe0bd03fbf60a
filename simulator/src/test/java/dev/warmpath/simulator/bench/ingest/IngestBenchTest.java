package dev.warmpath.simulator.bench.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Clock;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class IngestBenchTest {

  @ParameterizedTest
  @CsvSource({"1, false, 0", "3, true, 200000"})
  void everyPassEndsWithWhatTheEnginesHold(int engines, boolean filling, double rate) {
    IngestReport report =
        new IngestBench(
                new IngestBench.Plan(engines, 20_000, filling, 1, rate),
                Clock.systemUTC(),
                line -> {})
            .run();
    assertThat(report.exact()).isTrue();
    JsonNode json = report.json();
    assertThat(json.path("inProcess").path("eventBlocksPerSecond").asLong()).isPositive();
    assertThat(json.path("inProcess").path("eventBlocksPerCpuSecond").asLong()).isPositive();
    assertThat(json.path("filling").path("eventBlocksPerSecond").asLong()).isPositive();
    assertThat(json.path("zmq").path("eventToVisibleCount").asLong()).isPositive();
    assertThat(json.path("zmq").path("eventBlocksPerSecond").asLong()).isPositive();
    assertThat(json.path("zmq").path("eventToVisibleMicrosP99").asLong()).isPositive();
    assertThat(json.path("zmq").path("pacedEventBlocksPerSecond").asDouble())
        .isLessThan(rate > 0 ? 1.1 * rate : json.path("zmq").path("eventBlocksPerSecond").asLong());
    assertThat(json.path("engines").asInt()).isEqualTo(engines);
  }

  @ParameterizedTest
  @CsvSource({"false, 0.70, 0.15", "true, 0.35, 0.50"})
  void mixIsWhatItSays(boolean full, double prefilled, double removed) {
    EventMix mix = full ? EventMix.FULL : EventMix.FILLING;
    EngineFeed feed = IngestCorpus.of(1, 200_000, mix, 7).feeds().get(0);
    double blocks = Arrays.stream(feed.eventBlocks()).sum();
    double stored = (blocks + feed.heldBlocks()) / 2;
    assertThat((blocks - stored) / blocks).isBetween(removed - 0.05, removed + 0.02);
    assertThat(stored / (1 + mix.decoded()) / blocks).isBetween(prefilled - 0.02, prefilled + 0.05);
  }
}
