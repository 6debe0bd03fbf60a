package dev.warmpath.lab.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.msgpack.value.ValueFactory.newString;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.lab.ingest.IngestBench.IngestReport;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ArrayValue;
import org.msgpack.value.Value;

final class IngestBenchTest {

  @ParameterizedTest
  @CsvSource({"1, false, 0", "3, true, 200000"})
  void everyPassEndsWithWhatTheEnginesHold(int engines, boolean filling, double rate) {
    IngestReport report =
        new IngestBench(
                new IngestBench.Plan(engines, 20_000, filling, 1, rate),
                Clocks.ofTheMachine(),
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
  @CsvSource({"true, 0.82, 0.18, 0", "false, 0.35, 0.15, 0.50"})
  void mixIsWhatItSays(boolean filling, double prompts, double decoded, double removed)
      throws IOException {
    EngineFeed feed = IngestCorpus.of(1, 200_000, filling).feeds().get(0);
    double[] blocks = new double[3]; // of prompts, decoded, removed
    for (int batch = feed.batches() / 2; batch < feed.batches(); batch++) {
      for (Value event : events(feed.payloads()[batch])) {
        Map<Value, Value> fields = event.asMapValue().map();
        int count = fields.get(newString("block_hashes")).asArrayValue().size();
        boolean stored = fields.get(newString("type")).toString().equals("BlockStored");
        blocks[stored ? (count > 1 ? 0 : 1) : 2] += count;
      }
    }
    double all = Arrays.stream(blocks).sum();
    assertThat(blocks[0] / all).isCloseTo(prompts, within(0.04));
    assertThat(blocks[1] / all).isCloseTo(decoded, within(0.04));
    assertThat(blocks[2] / all).isCloseTo(removed, within(0.01));
  }

  private static ArrayValue events(byte[] payload) throws IOException {
    try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(payload)) {
      return unpacker.unpackValue().asArrayValue().get(1).asArrayValue();
    }
  }
}
