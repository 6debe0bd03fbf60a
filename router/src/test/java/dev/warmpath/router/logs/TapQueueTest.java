package dev.warmpath.router.logs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureSink;
import dev.warmpath.router.logs.TapQueue.RecordKind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TapQueueTest {

  private static final long QUIET_NANOS = Duration.ofSeconds(1).toNanos();
  private static final int ROOM = 2;
  private static final int PAYLOAD_BYTES = 800;

  private final AtomicLong nanos = new AtomicLong(1);
  private final QuietWatch quiet = new QuietWatch(QUIET_NANOS);
  private final List<String> written = new ArrayList<>();
  private volatile boolean isDiskFull;
  private int files;
  private int writes;
  private int streamCount = 1;
  private final TapQueue queue =
      new TapQueue(
          ROOM * (PAYLOAD_BYTES + TapQueue.OVERHEAD_BYTES),
          nanos::get,
          quiet,
          this::open,
          () -> streamCount);

  @BeforeEach
  void connect() throws IOException {
    queue.add();
    quiet.connected(0, true);
    queue.open();
  }

  @Test
  void whatFindsNoRoomIsCountedAndMarkedInItsPlace() throws InterruptedException {
    assertThat(offer(1)).isTrue();
    assertThat(offer(2)).isTrue();
    assertThat(offer(3)).isFalse();
    assertThat(offer(4)).isFalse();
    assertThat(written()).containsExactly("1", "2");
    assertThat(offer(5)).isTrue();
    assertThat(written()).containsExactly("records-dropped{events=2}", "5");
    assertThat(queue.dropped()).containsEntry(RecordKind.EVENTS, 2L);
    assertThat(queue.written())
        .containsEntry(RecordKind.EVENTS, 3L)
        .containsEntry(RecordKind.MARK, 1L);
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void lossIsMarkedThoughNothingFollows() throws InterruptedException {
    offer(1);
    offer(2);
    offer(3);
    assertThat(written()).containsExactly("1", "2");
    assertThat(written()).containsExactly("records-dropped{events=1}");
  }

  @Test
  void silentEngineIsQuiescentOnceUntilSomethingHappens() throws InterruptedException {
    assertThat(written()).isEmpty();
    nanos.addAndGet(QUIET_NANOS);
    assertThat(written()).containsExactly("quiescent{}");
    nanos.addAndGet(QUIET_NANOS);
    assertThat(written()).isEmpty();

    quiet.began(0);
    nanos.addAndGet(QUIET_NANOS);
    assertThat(written()).as("a request runs").isEmpty();
    quiet.ended(0, nanos.get());
    assertThat(written()).as("it ended just now").isEmpty();
    nanos.addAndGet(QUIET_NANOS);
    assertThat(written()).containsExactly("quiescent{}");

    quiet.heard(0, nanos.get());
    quiet.connected(0, false);
    nanos.addAndGet(QUIET_NANOS);
    assertThat(written()).as("nobody would hear it").isEmpty();
  }

  @Test
  void streamThatLostEventsIsNotQuiescentBeforeItsEngineIsEmpty() throws InterruptedException {
    queue.lost(0, RecordKind.EVENTS);
    nanos.addAndGet(QUIET_NANOS);
    assertThat(written()).containsExactly("records-dropped{events=1}");
    assertThat(written()).isEmpty();
    queue.emptied(0);
    assertThat(written()).containsExactly("quiescent{}");
  }

  @Test
  void diskThatRefusesCostsItsRecords() throws InterruptedException {
    offer(1);
    isDiskFull = true;
    assertThat(written()).isEmpty();
    assertThat(queue.dropped()).containsEntry(RecordKind.EVENTS, 1L);
    assertThat(queue.written()).containsEntry(RecordKind.EVENTS, 0L);
    assertThat(queue.isFailing()).isTrue();

    isDiskFull = false;
    offer(2);
    assertThat(written()).as("it is not asked again at once").isEmpty();
    nanos.addAndGet(DiskQueue.RETRY_NANOS);
    assertThat(written()).startsWith("records-dropped{events=2}");
    assertThat(queue.isFailing()).isFalse();
    assertThat(files).isEqualTo(2);
  }

  @Test
  void diskThatRefusesIsNotAskedInALoop() throws InterruptedException {
    offer(1);
    isDiskFull = true;
    assertThat(written()).isEmpty();
    long began = System.nanoTime();
    for (int turn = 0; turn < 4; turn++) {
      assertThat(written()).isEmpty();
    }
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(100));
    assertThat(writes).isEqualTo(1);

    nanos.addAndGet(DiskQueue.RETRY_NANOS);
    for (int turn = 0; turn < 4; turn++) {
      assertThat(written()).isEmpty();
    }
    assertThat(writes).as("once in a pause").isEqualTo(2);
    assertThat(queue.dropped())
        .containsEntry(RecordKind.EVENTS, 1L)
        .containsEntry(RecordKind.MARK, 0L);
    isDiskFull = false;
    nanos.addAndGet(DiskQueue.RETRY_NANOS);
    assertThat(written()).containsExactly("records-dropped{events=1}");
  }

  @Test
  void ownMarkThatIsLostIsMadeAgain() throws InterruptedException {
    queue.lost(0, RecordKind.REQUEST);
    nanos.addAndGet(QUIET_NANOS);
    isDiskFull = true;
    assertThat(written()).isEmpty();
    isDiskFull = false;
    nanos.addAndGet(DiskQueue.RETRY_NANOS);
    assertThat(written())
        .as("only requests were lost")
        .containsExactly("records-dropped{request=1}", "quiescent{}");
    assertThat(queue.dropped()).containsEntry(RecordKind.MARK, 0L);
  }

  @Test
  void streamThatLostWhatWasSaidOfItsEngineIsNotQuiescent() throws InterruptedException {
    queue.lost(0, RecordKind.MARK);
    nanos.addAndGet(QUIET_NANOS);
    assertThat(written()).containsExactly("records-dropped{mark=1}");
  }

  @Test
  void writerEndsThoughTheDiskRefuses() throws IOException {
    isDiskFull = true;
    queue.lost(0, RecordKind.EVENTS);
    queue.start("tap-queue-test");
    queue.close();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .doesNotContain("tap-queue-test");
    assertThat(offer(1)).isFalse();
    assertThat(queue.dropped()).containsEntry(RecordKind.EVENTS, 2L);
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void whatIsMissingAtTheEndIsMarked() throws InterruptedException {
    queue.lost(0, RecordKind.EVENTS);
    queue.close();
    assertThat(written()).containsExactly("records-dropped{events=1}");
    assertThat(queue.writeTurn()).isFalse();
  }

  @Test
  void newStreamBeginsAFileThatNamesIt() throws InterruptedException {
    offer(1);
    assertThat(written()).containsExactly("1");
    queue.add();
    streamCount++;
    offer(2);
    assertThat(written()).containsExactly("2");
    assertThat(files).isEqualTo(2);
  }

  private boolean offer(int sequence) {
    return queue.offer(
        0,
        RecordKind.EVENTS,
        PAYLOAD_BYTES,
        time -> new Events(time, 0, new byte[0], sequence, new byte[PAYLOAD_BYTES]));
  }

  private List<String> written() throws InterruptedException {
    written.clear();
    queue.writeTurn();
    return List.copyOf(written);
  }

  private static String text(CaptureRecord record) {
    return record instanceof Mark mark
        ? mark.name() + new TreeMap<>(mark.detail())
        : Long.toString(((Events) record).sequence());
  }

  private CaptureSink open() {
    files++;
    return new CaptureSink() {
      @Override
      public void write(CaptureRecord record) throws IOException {
        writes++;
        if (isDiskFull) {
          throw new IOException("the disk is full");
        }
        written.add(text(record));
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
  }
}
