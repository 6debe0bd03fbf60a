package dev.warmpath.router.logs;

import dev.warmpath.router.logs.LogQueue.DropCause;
import dev.warmpath.router.logs.LogQueue.Waiting;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings what waits to the disk. When that fails, what waited is dropped and counted, and the file
 * is opened again after a while.
 *
 * <p>Confined to its own thread, except {@link #written}.
 */
final class LogWriter implements Runnable {

  static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final Logger LOG = LoggerFactory.getLogger(LogWriter.class);
  private static final int RECORDS_A_TURN = 256;

  private final LogQueue queue;
  private final LogFiles files;
  private final LineFormat lines;
  private final Clock clock;
  private final LongSupplier nanoClock;
  private final AtomicLong written = new AtomicLong();
  private long failedNanos;

  LogWriter(LogQueue queue, LogFiles files, LineFormat lines, Clock clock, LongSupplier nanoClock) {
    this.queue = queue;
    this.files = files;
    this.lines = lines;
    this.clock = clock;
    this.nanoClock = nanoClock;
  }

  /** Opens the file, for the first time before there is anything to write. */
  void open() throws IOException {
    files.open();
    byte[] header = lines.header(clock.millis());
    if (files.isFullFor(header.length)) {
      files.rotate();
    }
    files.write(header);
    files.flush();
  }

  @Override
  public void run() {
    List<Waiting> turn = new ArrayList<>();
    try {
      while (queue.drainTo(turn, RECORDS_A_TURN)) {
        write(turn);
        turn.clear();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close();
    }
  }

  void write(List<Waiting> turn) {
    if (!files.isOpen() && nanoClock.getAsLong() - failedNanos < RETRY_NANOS) {
      queue.dropped(DropCause.DISK, turn.size());
      return;
    }
    try {
      if (!files.isOpen()) {
        open();
        LOG.info("{} is written again", files);
      }
      for (Waiting waiting : turn) {
        write(waiting);
      }
      files.flush();
      written.addAndGet(turn.size());
    } catch (IOException e) {
      LOG.warn("nothing is logged to {} for a while: {}", files, e.toString());
      failed(DropCause.DISK, turn.size());
    } catch (RuntimeException e) {
      LOG.error("a bug in the log {}", files, e);
      failed(DropCause.FAILURE, turn.size());
    }
  }

  private void failed(DropCause cause, int records) {
    failedNanos = nanoClock.getAsLong();
    queue.dropped(cause, records);
    close();
  }

  private void write(Waiting waiting) throws IOException {
    byte[] line = lines.of(waiting);
    if (files.isFullFor(line.length)) {
      files.rotate();
      files.write(lines.header(clock.millis()));
      line = lines.of(waiting); // a line refers to its own file alone
    }
    files.write(line);
  }

  /** Records that reached the system. */
  long written() {
    return written.get();
  }

  private void close() {
    try {
      files.close();
    } catch (IOException e) {
      LOG.warn("{} may lack its end: {}", files, e.toString());
    }
  }
}
