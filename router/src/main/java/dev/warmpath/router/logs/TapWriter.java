package dev.warmpath.router.logs;

import dev.warmpath.eventingest.capture.CaptureSink;
import dev.warmpath.router.logs.TapQueue.Waiting;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings what waits in a capture's queue to the disk, each turn's records as a whole.
 *
 * <p>When the disk refuses, the records of that time are counted as dropped, and another file is
 * begun after a while.
 *
 * <p>Confined to its own thread, except {@link #written} and {@link #isFailing}.
 */
final class TapWriter implements Runnable {

  /** Opens another row of files. */
  interface Files {
    CaptureSink open() throws IOException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(TapWriter.class);
  private static final int RECORDS_A_TURN = 1_024;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final TapQueue queue;
  private final Files files;
  private final IntSupplier streams;
  private final LongSupplier nanoClock;
  private final AtomicLongArray written = new AtomicLongArray(RecordKind.values().length);
  private volatile @Nullable CaptureSink sink;
  private int streamsInFile;
  private long failedNanos;

  /**
   * Opens the first file.
   *
   * @param streams how many there are; files that are opened from then on name them all
   */
  TapWriter(TapQueue queue, Files files, IntSupplier streams, LongSupplier nanoClock)
      throws IOException {
    this.queue = queue;
    this.files = files;
    this.streams = streams;
    this.nanoClock = nanoClock;
    sink = opened();
  }

  @Override
  public void run() {
    List<Waiting> turn = new ArrayList<>();
    try {
      while (!queue.isOver()) {
        queue.drainTo(turn, RECORDS_A_TURN, LOOK_NANOS);
        write(turn);
        turn.clear();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      closeFile();
    }
  }

  /** Records that have reached the system, by kind. */
  Map<RecordKind, Long> written() {
    Map<RecordKind, Long> counts = new EnumMap<>(RecordKind.class);
    for (RecordKind kind : RecordKind.values()) {
      counts.put(kind, written.get(kind.ordinal()));
    }
    return counts;
  }

  /** Whether nothing can be written now. */
  boolean isFailing() {
    return sink == null;
  }

  private void write(List<Waiting> turn) {
    if (turn.isEmpty()) {
      return;
    }
    try {
      if (sink != null && streams.getAsInt() > streamsInFile) {
        closeFile();
        sink = opened();
      }
      CaptureSink to = sink == null ? reopened() : sink;
      if (to != null) {
        for (Waiting waiting : turn) {
          to.write(waiting.record());
        }
        to.flush();
        turn.forEach(waiting -> written.incrementAndGet(waiting.kind().ordinal()));
        return;
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("nothing is captured for a while: {}", e.toString());
      failedNanos = nanoClock.getAsLong();
      closeFile();
    }
    turn.forEach(waiting -> queue.lost(waiting.stream(), waiting.kind()));
  }

  private @Nullable CaptureSink reopened() throws IOException {
    if (nanoClock.getAsLong() - failedNanos >= RETRY_NANOS) {
      sink = opened();
    }
    return sink;
  }

  private CaptureSink opened() throws IOException {
    streamsInFile = streams.getAsInt();
    return files.open();
  }

  private void closeFile() {
    CaptureSink open = sink;
    sink = null;
    if (open != null) {
      try {
        open.close();
      } catch (IOException e) {
        LOG.warn("a capture file may lack its end: {}", e.toString());
      }
    }
  }
}
