package dev.warmpath.simulator.capture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureWriter;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.simulator.capture.FaultyFeed.Faults;
import dev.warmpath.simulator.capture.RecordedEngine.ReplayBuffer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.zeromq.ZContext;

@Timeout(60)
class RecordAndPublishTest {

  private static final CaptureStream ENGINE = CaptureStream.live(0, "engine", "vllm", "m");
  private static final byte[] TOPIC = {'k', 'v'};

  @TempDir private Path folder;

  @Test
  void whatIsPublishedIsWhatIsRecorded() throws Exception {
    Path original = folder.resolve("original.wpc");
    write(original, events(0), replay(0, 1), events(2), mark(), otherStream(9), events(3));

    List<CaptureRecord> recorded = publishAndRecord(original, 0, false);

    assertThat(recorded).extracting(it -> ((Events) it).sequence()).containsExactly(0L, 2L, 3L);
    Events first = (Events) recorded.get(0);
    assertThat(first.topic()).isEqualTo(TOPIC);
    assertThat(first.payload()).isEqualTo(payload(0));
    assertThat(recorded).extracting(CaptureRecord::timeSeconds).isSorted();
  }

  @Test
  void theReplayIsWrittenBeforeWhatWasHeardMeanwhile() throws Exception {
    Path original = folder.resolve("original.wpc");
    write(original, events(0), replay(0, 1), events(2));

    List<CaptureRecord> recorded = publishAndRecord(original, 0, true);

    Replay replay = (Replay) recorded.get(0);
    assertThat(replay.replies()).extracting(frames -> frames.size()).containsOnly(3);
    assertThat(replay.replies())
        .extracting(frames -> StreamMessage.ofReply(frames).sequence())
        .containsExactly(0L, 1L, 2L, -1L);
    assertThat(recorded.subList(1, recorded.size()))
        .extracting(it -> ((Events) it).sequence())
        .containsExactly(0L, 2L);
    assertThat(recorded).extracting(CaptureRecord::timeSeconds).isSorted();
  }

  @Test
  void aNumberThatDoesNotGrowBeginsANewLifetime() {
    ReplayBuffer buffer = new ReplayBuffer(2);
    for (long sequence : new long[] {7, 8, 9, 0, 1}) {
      buffer.published(new StreamMessage(sequence, payload(0)));
    }
    assertThat(buffer.from(0)).extracting(StreamMessage::sequence).containsExactly(0L, 1L);
    buffer.published(new StreamMessage(2, payload(0)));
    assertThat(buffer.from(0)).extracting(StreamMessage::sequence).containsExactly(1L, 2L);
  }

  /** Publishes to a recorder and returns what it wrote. */
  private List<CaptureRecord> publishAndRecord(Path original, double speed, boolean askReplay)
      throws Exception {
    Path copy = folder.resolve("copy.wpc.gz");
    try (ZContext context = new ZContext();
        CaptureReader capture = CaptureReader.open(original);
        CapturePublisher publisher =
            new CapturePublisher(
                context, "tcp://127.0.0.1:0", "tcp://127.0.0.1:0", System::nanoTime)) {
      CaptureRecorder.Source source =
          new CaptureRecorder.Source(
              ENGINE, publisher.endpoint(), askReplay ? publisher.replayEndpoint() : null, "k");
      CompletableFuture<Void> recording =
          CompletableFuture.runAsync(() -> record(copy, source, askReplay ? 2 : 3));
      publisher.serve(() -> publisher.subscribers() == 1);
      publisher.publish(capture, 0, speed, new FaultyFeed(Faults.NONE, 0));
      publisher.serve(recording::isDone);
      recording.get(1, TimeUnit.SECONDS);
    }
    return read(copy);
  }

  private static void record(Path file, CaptureRecorder.Source source, long batches) {
    CaptureHeader header = CaptureHeader.of(Instant.EPOCH, "copy", List.of(source.stream()));
    try (ZContext context = new ZContext();
        CaptureWriter writer = CaptureWriter.create(file, header)) {
      CaptureRecorder recorder = new CaptureRecorder(writer, List.of(source), System::nanoTime);
      recorder.record(context, () -> recorder.batches() == batches);
      assertThat(recorder.malformed()).isZero();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void write(Path file, CaptureRecord... records) throws IOException {
    CaptureHeader header = CaptureHeader.of(Instant.EPOCH, "original", List.of(ENGINE));
    try (CaptureWriter writer = CaptureWriter.create(file, header)) {
      for (CaptureRecord record : records) {
        writer.write(record);
      }
    }
  }

  private static List<CaptureRecord> read(Path file) throws IOException {
    List<CaptureRecord> records = new ArrayList<>();
    try (CaptureReader reader = CaptureReader.open(file)) {
      for (CaptureRecord record = reader.next(); record != null; record = reader.next()) {
        records.add(record);
      }
    }
    return records;
  }

  private static Events events(long sequence) {
    return new Events(sequence, 0, TOPIC, sequence, payload(sequence));
  }

  private static Events otherStream(long sequence) {
    return new Events(sequence, 1, TOPIC, sequence, payload(sequence));
  }

  private static Replay replay(long... sequences) {
    List<List<byte[]>> replies = new ArrayList<>();
    for (long sequence : sequences) {
      replies.add(List.of(StreamMessage.sequenceFrame(sequence), payload(sequence)));
    }
    return new Replay(1, 0, 0, replies);
  }

  private static CaptureRecord mark() {
    return new CaptureRecord.Mark(1, CaptureRecord.NO_STREAM, "quiescent", Map.of());
  }

  private static byte[] payload(long sequence) {
    return new byte[] {(byte) 0x92, (byte) 0xc0, (byte) 0x90, (byte) sequence};
  }
}
