package dev.warmpath.simulator.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureWriter;
import dev.warmpath.eventingest.capture.RotatingCaptureWriter;
import dev.warmpath.eventingest.capture.RotatingCaptureWriter.Limits;
import dev.warmpath.simulator.capture.CaptureDiff.EngineDiff;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CaptureEditTest {

  private static final Instant BEGAN = Instant.parse("2026-11-21T10:00:00Z");

  @TempDir private Path folder;

  @Test
  void cutKeepsItsTimeAndStreams() throws IOException {
    Path whole = file("whole.wpc.gz", BEGAN, "a", "b");
    Path part = folder.resolve("part.wpc");

    assertThat(new CaptureCut(2, 5, Set.of(1)).write(whole, part, CaptureReader::open))
        .isEqualTo(4);

    List<CaptureRecord> kept = read(part);
    assertThat(kept).extracting(CaptureRecord::timeSeconds).containsExactly(2.0, 2.0, 3.0, 4.0);
    assertThat(kept.get(0)).as("marks of all streams stay").isInstanceOf(Mark.class);
    assertThat(kept.subList(1, 4)).allMatch(record -> record.stream() == 1);
  }

  @Test
  void nothingThatExistsIsOverwritten() throws IOException {
    Path whole = file("whole.wpc.gz", BEGAN, "a");
    assertThatThrownBy(
            () -> new CaptureCut(0, 9, Set.of()).write(whole, whole, CaptureReader::open))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThat(read(whole)).hasSize(11);
  }

  @Test
  void mergePutsRecordsInOrderOfTime() throws IOException {
    Path early = file("early.wpc.gz", BEGAN, "a");
    Path late = file("late.wpc.gz", BEGAN.plusMillis(1500), "b", "a");
    Path merged = folder.resolve("merged.wpc.gz");

    assertThat(CaptureMerge.write(List.of(late, early), merged, "both", CaptureReader::open))
        .isEqualTo(32);

    List<CaptureRecord> records = read(merged);
    assertThat(records).extracting(CaptureRecord::timeSeconds).isSorted();
    assertThat(records.get(records.size() - 1).timeSeconds()).isEqualTo(10.5);
    try (CaptureReader reader = CaptureReader.open(merged)) {
      assertThat(reader.header().created()).isEqualTo(BEGAN.toString());
      assertThat(reader.header().note()).isEqualTo("both");
      assertThat(reader.header().streams())
          .extracting(CaptureStream::replica)
          .containsExactly("b", "a");
    }
  }

  @Test
  void diffFindsWhatOnlyOneHeard() throws IOException {
    Path first = file("first.wpc.gz", BEGAN, "a", "b");
    Path second = folder.resolve("second.wpc.gz");
    new CaptureCut(0, 7, Set.of()).write(first, second, CaptureReader::open);

    assertThat(CaptureDiff.of(first, first, CaptureReader::open)).allMatch(EngineDiff::isSame);
    assertThat(CaptureDiff.of(first, second, CaptureReader::open))
        .containsExactly(
            new EngineDiff("a/0", 7, 3, 0, 0, 7), new EngineDiff("b/0", 7, 3, 0, 0, 7));
    assertThat(CaptureDiff.of(second, first, CaptureReader::open).get(0))
        .isEqualTo(new EngineDiff("a/0", 7, 0, 3, 0, 7));
  }

  @Test
  void diffKeepsTheLivesOfAnEngineApart() throws IOException {
    Path both = folder.resolve("both.wpc.gz");
    try (CaptureWriter writer = CaptureWriter.create(both, header(BEGAN, "a"))) {
      for (int i = 0; i < 20; i++) {
        writer.write(new Events(i, 0, new byte[0], i % 10, new byte[] {(byte) i}));
      }
    }
    Path first = folder.resolve("first.wpc.gz");
    new CaptureCut(0, 12, Set.of()).write(both, first, CaptureReader::open);
    assertThat(CaptureDiff.of(both, first, CaptureReader::open))
        .containsExactly(new EngineDiff("a/0", 12, 8, 0, 0, 2));
  }

  @Test
  void whatFailsLeavesNoFile() throws IOException {
    Path whole = file("whole.wpc", BEGAN, "a");
    byte[] bytes = Files.readAllBytes(whole);
    bytes[bytes.length - 40] = (byte) 0xc1;
    Path broken = Files.write(folder.resolve("broken.wpc"), bytes);
    Path out = folder.resolve("out.wpc");
    assertThatThrownBy(
            () -> CaptureMerge.write(List.of(whole, broken), out, "", CaptureReader::open))
        .isInstanceOf(IOException.class);
    assertThat(out).doesNotExist();
    assertThatThrownBy(
            () -> new CaptureCut(0, 99, Set.of()).write(broken, out, CaptureReader::open))
        .isInstanceOf(IOException.class);
    assertThat(out).doesNotExist();
  }

  @Test
  void diffFindsOtherBytes() throws IOException {
    Path first = file("first.wpc.gz", BEGAN, "a");
    Path second = folder.resolve("second.wpc.gz");
    try (CaptureWriter writer = CaptureWriter.create(second, header(BEGAN, "a"))) {
      for (int i = 0; i < 10; i++) {
        writer.write(new Events(i, 0, new byte[0], i, new byte[] {(byte) (i == 4 ? 99 : i)}));
      }
    }
    assertThat(CaptureDiff.of(first, second, CaptureReader::open))
        .containsExactly(new EngineDiff("a/0", 9, 0, 0, 1, 4));
  }

  @Test
  void statsCountWhatIsThere() {
    CaptureStats stats = new CaptureStats();
    for (int sequence : new int[] {0, 1, 5, 6, 2}) {
      stats.add(new Events(sequence, 0, new byte[0], sequence, new byte[] {(byte) 0xc1}));
    }
    assertThat(stats.counts())
        .containsAllEntriesOf(
            Map.of(
                "messages", 5L,
                "payload_bytes", 5L,
                "gaps", 1L,
                "missing_messages", 3L,
                "numbers_went_back", 1L,
                "undecodable", 5L));
  }

  @Test
  void rotationKeepsTheLastFilesAndLosesNothingBetween() throws IOException {
    Path out = folder.resolve("live.wpc.gz");
    try (RotatingCaptureWriter writer =
        RotatingCaptureWriter.create(out, header(BEGAN, "a"), new Limits(4_000, 3))) {
      for (int i = 0; i < 100; i++) {
        writer.write(new Events(i, 0, new byte[0], i, new byte[500]));
      }
    }

    List<Path> files = new ArrayList<>();
    try (Stream<Path> all = Files.list(folder)) {
      all.sorted().forEach(files::add);
    }
    assertThat(files).hasSize(3);
    assertThat(files.get(0).getFileName().toString()).matches("live-000\\d\\d\\.wpc\\.gz");
    Path merged = folder.resolve("merged.wpc.gz");
    CaptureMerge.write(files, merged, "", CaptureReader::open);
    List<CaptureRecord> records = read(merged);
    assertThat(records.size()).isBetween(16, 27);
    long first = ((Events) records.get(0)).sequence();
    for (int i = 0; i < records.size(); i++) {
      assertThat(((Events) records.get(i)).sequence()).isEqualTo(first + i);
    }
    assertThat(((Events) records.get(records.size() - 1)).sequence()).isEqualTo(99);
  }

  /** Ten messages of each replica, a second apart, and a mark of all. */
  private Path file(String name, Instant began, String... replicas) throws IOException {
    Path file = folder.resolve(name);
    try (CaptureWriter writer = CaptureWriter.create(file, header(began, replicas))) {
      for (int i = 0; i < 10; i++) {
        if (i == 2) {
          writer.write(new Mark(i, CaptureRecord.NO_STREAM, "quiescent", Map.of()));
        }
        for (int stream = 0; stream < replicas.length; stream++) {
          writer.write(new Events(i, stream, new byte[0], i, new byte[] {(byte) i}));
        }
      }
    }
    return file;
  }

  private static CaptureHeader header(Instant began, String... replicas) {
    List<CaptureStream> streams = new ArrayList<>();
    for (String replica : replicas) {
      streams.add(CaptureStream.live(streams.size(), replica, "vllm", "m"));
    }
    return CaptureHeader.of(began, "", streams);
  }

  private static List<CaptureRecord> read(Path file) throws IOException {
    List<CaptureRecord> records = new ArrayList<>();
    try (CaptureReader reader = CaptureReader.open(file)) {
      CaptureRecord record = reader.next();
      while (record != null) {
        records.add(record);
        record = reader.next();
      }
    }
    return records;
  }
}
