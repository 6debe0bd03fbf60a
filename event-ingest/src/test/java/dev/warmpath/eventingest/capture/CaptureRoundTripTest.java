package dev.warmpath.eventingest.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CaptureRoundTripTest {

  private static final CaptureHeader HEADER =
      CaptureHeader.of(
          Instant.EPOCH,
          "two engines",
          List.of(
              CaptureStream.live(0, "a", "vllm", "m"), CaptureStream.live(1, "b", "sglang", "m")));

  private static final List<CaptureRecord> RECORDS =
      List.of(
          new Mark(0.25, CaptureRecord.NO_STREAM, "engine-started", Map.of()),
          new Request(0.5, 0, "r1", body()),
          new Events(1.5, 1, new byte[] {'k'}, -2, new byte[300]),
          new Replay(
              2, 0, 7, List.of(List.of(new byte[] {1}, new byte[700]), List.of(new byte[0]))),
          new Response(3, 0, "r1", Map.of("cached_tokens", 64L, "status", 200L)));

  @TempDir private Path folder;

  private static Map<String, Object> body() {
    Map<String, Object> body = new HashMap<>();
    body.put("token_ids", List.of(1L, 70_000L));
    body.put("cache_salt", null);
    body.put("messages", List.of(Map.of("content", "é\uD83D\uDE00", "deep", List.of(true, 0.5))));
    body.put("wide", new BigInteger("18446744073709551615"));
    body.put("negative", -1L << 40);
    body.put("raw", new byte[] {1, 2});
    return body;
  }

  @ParameterizedTest
  @ValueSource(strings = {"c.wpc", "c.wpc.gz"})
  void readsWhatWasWritten(String name) throws IOException {
    Path file = write(name);
    try (CaptureReader reader = CaptureReader.open(file)) {
      assertThat(reader.header().streams())
          .extracting(CaptureStream::replica)
          .containsExactly("a", "b");
      assertThat(reader.header().created()).isEqualTo("1970-01-01T00:00:00Z");
      assertThat(drain(reader)).usingRecursiveComparison().isEqualTo(RECORDS);
      assertThat(reader.truncated()).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"c.wpc", "c.wpc.gz"})
  void givesEveryWholeRecordOfAFileCutAnywhere(String name) throws IOException {
    byte[] bytes = Files.readAllBytes(write(name));
    int best = 0;
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      int whole = wholeRecords(cut);
      assertThat(whole).as("records of the first %d bytes", length).isGreaterThanOrEqualTo(best);
      best = whole;
    }
    assertThat(best).isGreaterThanOrEqualTo(RECORDS.size() - 1);
  }

  @Test
  void flushedRecordsAreInTheFile() throws IOException {
    Path file = folder.resolve("live.wpc.gz");
    try (CaptureWriter writer = CaptureWriter.create(file, HEADER)) {
      for (int i = 0; i < RECORDS.size(); i++) {
        writer.write(RECORDS.get(i));
        writer.flush();
        assertThat(wholeRecords(Files.readAllBytes(file))).isEqualTo(i + 1);
      }
    }
  }

  @Test
  void readsLargeFrames() throws IOException {
    Path file = folder.resolve("large.wpc");
    CaptureRecord large = new Events(0, 0, new byte[0], 0, new byte[200_001]);
    try (CaptureWriter writer = CaptureWriter.create(file, HEADER)) {
      writer.write(large);
    }
    try (CaptureReader reader = CaptureReader.open(file)) {
      assertThat(reader.next()).usingRecursiveComparison().isEqualTo(large);
    }
  }

  @Test
  void leavesAnExistingFileAlone() throws IOException {
    Path file = Files.writeString(folder.resolve("c.wpc"), "mine");
    assertThatThrownBy(() -> CaptureWriter.create(file, HEADER))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThat(file).hasContent("mine");
  }

  @Test
  void answersWhatRequestsAndResponsesSay() {
    Request request = (Request) RECORDS.get(1);
    assertThat(request.tokenIds()).containsExactly(1, 70_000);
    assertThat(request.text("cache_salt")).isNull();
    assertThat(new Request(0, 0, "", Map.of("token_ids", List.of(1L << 31))).tokenIds()).isNull();
    assertThat(((Response) RECORDS.get(4)).cachedTokens()).isEqualTo(64);
    assertThat(new Response(0, 0, "", Map.of()).cachedTokens()).isNull();
  }

  private Path write(String name) throws IOException {
    Path file = folder.resolve(name);
    try (CaptureWriter writer = CaptureWriter.create(file, HEADER)) {
      for (CaptureRecord record : RECORDS) {
        writer.write(record);
      }
    }
    return file;
  }

  /** The number of records before the cut, 0 for a file that ends inside its header. */
  private static int wholeRecords(byte[] bytes) throws IOException {
    try (CaptureReader reader = CaptureReader.of("cut", new ByteArrayInputStream(bytes))) {
      return drain(reader).size();
    } catch (CaptureException e) {
      assertThat(e).hasMessageStartingWith("cut: ").hasMessageContaining("header");
      return 0;
    }
  }

  private static List<CaptureRecord> drain(CaptureReader reader) throws IOException {
    List<CaptureRecord> records = new ArrayList<>();
    for (CaptureRecord record = reader.next(); record != null; record = reader.next()) {
      records.add(record);
    }
    return records;
  }
}
