package dev.warmpath.router;

import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.follow.EventIngest;
import dev.warmpath.eventingest.snapshot.Handover;
import dev.warmpath.eventingest.snapshot.SnapshotDirectory;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a snapshot from time to time, and a last one at the end.
 *
 * <p>The index's writer encodes it between two batches, never longer than it may, and this class'
 * thread brings it to the disk; a snapshot that fails leaves the one before as it is. One fails,
 * too, while another router has the directory.
 *
 * <p>Thread-safe.
 */
final class SnapshotKeeper implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotKeeper.class);
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Events go on for at least so many times as long as they waited. */
  private static final int PAUSES_APART = 20;

  private final SnapshotDirectory directory;
  private final EventIngest ingest;
  private final RunKvIndex index;
  private final RouterConfig.Snapshot config;
  private final LongSupplier nanoClock;
  private final CountDownLatch leaving = new CountDownLatch(1);
  private final Thread thread;
  private volatile Status status = Status.NONE;

  /**
   * What a process has written so far.
   *
   * @param written snapshots
   * @param failed snapshots
   * @param atNanos when the last one was complete; meaningless before the first, as are its bytes
   *     and the time it took
   * @param pauseSeconds how long events waited for the last one, written or not
   */
  public record Status(
      long written,
      long failed,
      long atNanos,
      long bytes,
      double writeSeconds,
      double pauseSeconds) {

    /** Nothing yet. */
    public static final Status NONE = new Status(0, 0, 0, 0, 0, 0);

    Status written(long atNanos, long bytes, long pauseNanos, long tookNanos) {
      return new Status(written + 1, failed, atNanos, bytes, tookNanos / 1e9, pauseNanos / 1e9);
    }

    Status failed(long pauseNanos) {
      double pause = pauseNanos < 0 ? pauseSeconds : pauseNanos / 1e9;
      return new Status(written, failed + 1, atNanos, bytes, writeSeconds, pause);
    }

    /** The same for a scrape at this time. */
    public void collect(MetricValues to, long nowNanos) {
      to.add(Metric.SNAPSHOT_WRITES_TOTAL, written, "written");
      to.add(Metric.SNAPSHOT_WRITES_TOTAL, failed, "failed");
      to.add(Metric.SNAPSHOT_PAUSE_SECONDS, pauseSeconds);
      if (written > 0) {
        to.add(Metric.SNAPSHOT_AGE_SECONDS, (nowNanos - atNanos) / 1e9);
        to.add(Metric.SNAPSHOT_BYTES, bytes);
        to.add(Metric.SNAPSHOT_WRITE_SECONDS, writeSeconds);
      }
    }
  }

  /** Begins to keep snapshots of {@code index}, which {@code ingest} writes. */
  SnapshotKeeper(
      SnapshotDirectory directory,
      EventIngest ingest,
      RunKvIndex index,
      RouterConfig.Snapshot config,
      LongSupplier nanoClock) {
    this.directory = directory;
    this.ingest = ingest;
    this.index = index;
    this.config = config;
    this.nanoClock = nanoClock;
    thread = new Thread(this::run, "warmpath-snapshots");
    thread.setDaemon(true);
    thread.start();
  }

  /** How it went so far. */
  public Status status() {
    return status;
  }

  /** Writes the last snapshot and leaves the directory; no request may be sent any more. */
  @Override
  public void close() {
    leaving.countDown();
    try {
      thread.join(TimeUnit.NANOSECONDS.toMillis(PATIENCE_NANOS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    save(PATIENCE_NANOS);
    directory.close();
  }

  private void run() {
    long delayNanos = TimeUnit.MILLISECONDS.toNanos(config.intervalMs());
    try {
      while (!leaving.await(delayNanos, TimeUnit.NANOSECONDS)) {
        save(TimeUnit.MILLISECONDS.toNanos(config.maxPauseMs()));
        long pauseNanos = (long) (status.pauseSeconds() * 1e9);
        delayNanos =
            Math.max(TimeUnit.MILLISECONDS.toNanos(config.intervalMs()), PAUSES_APART * pauseNanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Writes what is known now: the index's writer gives it to {@code handover} between batches. */
  static void write(
      EventIngest ingest, RunKvIndex index, long maxBytes, Handover handover, OutputStream out)
      throws IOException {
    boolean will =
        ingest.whileStill(memory -> handover.fill(to -> memory.writeTo(to, index, maxBytes)));
    handover.drainTo(out, will ? PATIENCE_NANOS : 0);
  }

  /** Writes a snapshot, unless nothing is known, or not yet what the last one says. */
  private synchronized void save(long maxPauseNanos) {
    List<EngineStatus> engines = ingest.status();
    if (engines.stream().allMatch(engine -> engine.lastSequence() < 0)
        || engines.stream().anyMatch(engine -> engine.slot() < 0)) {
      return;
    }
    long beganNanos = nanoClock.getAsLong();
    Handover handover = new Handover(nanoClock, maxPauseNanos);
    boolean wasTaken = directory.isTaken();
    try {
      long bytes =
          directory.replace(
              out -> write(ingest, index, RestoredState.maxBytes(config), handover, out));
      status =
          status.written(
              nanoClock.getAsLong(),
              bytes,
              handover.tookNanos(),
              nanoClock.getAsLong() - beganNanos);
      if (!wasTaken) {
        LOG.info("{} is free: snapshots are kept there from now on", directory.path());
      }
    } catch (IOException | RuntimeException e) {
      status = status.failed(handover.tookNanos());
      LOG.warn("no snapshot this time, the last one stays: {}", e.toString());
    }
  }
}
