package dev.warmpath.simulator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.eventingest.capture.CaptureWriter;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.TestProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class VerifyCommandTest {

  private final TestProgram program = new TestProgram();

  /** A batch of one event: {@code ["BlockStored", [1], nil, [0, 1, 2, 3], 4, nil]}. */
  private static final byte[] STORE =
      HexFormat.of().parseHex("93c09196ab426c6f636b53746f7265649101c0940001020304c000");

  @TempDir private Path folder;

  @Test
  void oneLineAFile() throws IOException {
    Path file = capture("a.wpc", 4);

    assertThat(run("replay", "verify", file.toString())).isEqualTo(Exit.OK);
    assertThat(program.out().lines()).hasSize(1);
    assertThat(program.out()).startsWith("a.wpc: vllm").contains("1 exact, 0 over, 0 under");
  }

  @Test
  void overPredictionFails() throws IOException {
    Path file = capture("a.wpc", 0);

    assertThat(run("replay", "verify", file.toString())).isEqualTo(Exit.FAILED);
    assertThat(program.out()).contains("0 exact, 1 over, 0 under");
  }

  @Test
  void underPredictionDoesNotFail() throws IOException {
    Path file = capture("a.wpc", 8);

    assertThat(run("replay", "verify", file.toString())).isEqualTo(Exit.OK);
    assertThat(program.out()).contains("0 exact, 0 over, 1 under");
  }

  @Test
  void fileThatCannotBeReadDoesNotStopTheOthers() throws IOException {
    String nowhere = folder.resolve("nowhere.wpc").toString();
    String file = capture("a.wpc", 4).toString();

    assertThat(run("replay", "verify", "--json", nowhere, file)).isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("nowhere.wpc: no such file").contains("a.wpc: vllm");

    JsonNode files = new ObjectMapper().readTree(program.out()).get("files");
    assertThat(files).hasSize(1);
    assertThat(files.get(0).get("file").asText()).isEqualTo(file);
    assertThat(files.get(0).get("exact").asLong()).isEqualTo(1);
    assertThat(files.get(0).get("busy").get("over").asLong()).isZero();
  }

  @Test
  void capturesThatJudgeNothingFailAndSayWhy() throws IOException {
    CaptureStream stream = CaptureStream.live(0, "engine-0", "vllm", "m");
    CaptureHeader header = CaptureHeader.of(Instant.EPOCH, "", List.of(stream));
    Path events = folder.resolve("events.wpc");
    try (CaptureWriter writer = CaptureWriter.create(events, header)) {
      writer.write(new Events(1, 0, new byte[0], 0, STORE));
    }
    assertThat(run("replay", "verify", events.toString())).isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("nothing could be judged: no file has a request");

    Path busy = folder.resolve("busy.wpc");
    try (CaptureWriter writer = CaptureWriter.create(busy, header)) {
      writer.write(new Request(3, 0, "r", Map.of("token_ids", List.of(0L, 1L, 2L, 3L, 4L))));
      writer.write(new Response(4, 0, "r", Map.of("cached_tokens", 0L)));
    }
    assertThat(run("replay", "verify", busy.toString())).isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("none of the 1 requests");
    assertThat(run("replay", "verify", events.toString(), capture("a.wpc", 4).toString()))
        .as("one file is enough")
        .isEqualTo(Exit.OK);
  }

  private Path capture(String name, long cachedTokens) throws IOException {
    Path file = folder.resolve(name);
    CaptureStream stream = CaptureStream.live(0, "engine-0", "vllm", "m");
    try (CaptureWriter writer =
        CaptureWriter.create(file, CaptureHeader.of(Instant.EPOCH, "", List.of(stream)))) {
      writer.write(new Events(1, 0, new byte[0], 0, STORE));
      writer.write(new Mark(2, 0, "quiescent", Map.of()));
      writer.write(new Request(3, 0, "r", Map.of("token_ids", List.of(0L, 1L, 2L, 3L, 4L))));
      writer.write(new Response(4, 0, "r", Map.of("cached_tokens", cachedTokens)));
    }
    return file;
  }

  private int run(String... args) {
    return program.run(args);
  }
}
