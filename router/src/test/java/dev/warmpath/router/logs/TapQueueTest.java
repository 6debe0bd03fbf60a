package dev.warmpath.router.logs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureSink;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TapQueueTest {

  private static final long QUIET_NANOS = Duration.ofSeconds(1).toNanos();
  private static final int ROOM = 2;
  private static final int PAYLOAD_BYTES = 800;

  private final AtomicLong nanos = new AtomicLong(1);
  private final QuietWatch quiet = new QuietWatch(QUIET_NANOS);
  private final TapQueue queue =
      new TapQueue(ROOM * (PAYLOAD_BYTES + TapQueue.OVERHEAD_BYTES), nanos::get, quiet);

  @BeforeEach
  void connect() {
    queue.add();
    quiet.connected(0, true);
  }

  @Test
  void whatFindsNoRoomIsCountedAndMarkedInItsPlace() throws InterruptedException {
    assertThat(offer(1)).isTrue();
    assertThat(offer(2)).isTrue();
    assertThat(offer(3)).isFalse();
    assertThat(offer(4)).isFalse();
    assertThat(drained(1)).containsExactly("1");
    assertThat(offer(5)).isTrue();
    assertThat(drained(10)).containsExactly("2", "records-dropped{events=2}", "5");
    assertThat(queue.dropped()).containsEntry(RecordKind.EVENTS, 2L);
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void lossIsMarkedThoughNothingFollows() throws InterruptedException {
    offer(1);
    offer(2);
    offer(3);
    assertThat(drained(10)).containsExactly("1", "2");
    assertThat(drained(10)).containsExactly("records-dropped{events=1}");
  }

  @Test
  void silentEngineIsQuiescentOnceUntilSomethingHappens() throws InterruptedException {
    assertThat(drained(10)).isEmpty();
    nanos.addAndGet(QUIET_NANOS);
    assertThat(drained(10)).containsExactly("quiescent{}");
    nanos.addAndGet(QUIET_NANOS);
    assertThat(drained(10)).isEmpty();

    quiet.began(0);
    nanos.addAndGet(QUIET_NANOS);
    assertThat(drained(10)).as("a request runs").isEmpty();
    quiet.ended(0, nanos.get());
    assertThat(drained(10)).as("it ended just now").isEmpty();
    nanos.addAndGet(QUIET_NANOS);
    assertThat(drained(10)).containsExactly("quiescent{}");

    quiet.heard(0, nanos.get());
    quiet.connected(0, false);
    nanos.addAndGet(QUIET_NANOS);
    assertThat(drained(10)).as("nobody would hear it").isEmpty();
  }

  @Test
  void streamThatLostEventsIsNotQuiescentBeforeItsEngineIsEmpty() throws InterruptedException {
    queue.lost(0, RecordKind.EVENTS);
    nanos.addAndGet(QUIET_NANOS);
    assertThat(drained(10)).isEmpty();
    assertThat(drained(10)).containsExactly("records-dropped{events=1}");
    assertThat(drained(10)).isEmpty();
    queue.emptied(0);
    assertThat(drained(10)).containsExactly("quiescent{}");
  }

  @Test
  void diskThatRefusesCostsItsRecords() throws IOException {
    offer(1);
    queue.close();
    TapWriter writer = new TapWriter(queue, FullDisk::new, () -> 1, nanos::get);

    writer.run();

    assertThat(queue.dropped()).containsEntry(RecordKind.EVENTS, 1L);
    assertThat(writer.written()).containsEntry(RecordKind.EVENTS, 0L);
    assertThat(writer.isFailing()).isTrue();
  }

  private boolean offer(int sequence) {
    return queue.offer(
        0,
        RecordKind.EVENTS,
        PAYLOAD_BYTES,
        time -> new Events(time, 0, new byte[0], sequence, new byte[PAYLOAD_BYTES]));
  }

  private List<String> drained(int most) throws InterruptedException {
    List<TapQueue.Waiting> waiting = new ArrayList<>();
    queue.drainTo(waiting, most, 0);
    return waiting.stream().map(TapQueue.Waiting::record).map(TapQueueTest::text).toList();
  }

  private static String text(CaptureRecord record) {
    return record instanceof Mark mark
        ? mark.name() + Map.copyOf(mark.detail())
        : Long.toString(((Events) record).sequence());
  }

  private static final class FullDisk implements CaptureSink {

    @Override
    public void write(CaptureRecord record) throws IOException {
      throw new IOException("the disk is full");
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
