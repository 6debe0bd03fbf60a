package dev.warmpath.router.snapshot;

import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;

/**
 * What a process has written so far.
 *
 * <p>Immutable.
 *
 * @param written snapshots
 * @param failed snapshots
 * @param atNanos when the last one was complete; meaningless before the first, as are its bytes and
 *     the time it took
 * @param pauseSeconds how long events waited for the last one, written or not
 */
public record SnapshotStatus(
    long written, long failed, long atNanos, long bytes, double writeSeconds, double pauseSeconds) {

  /** Nothing yet. */
  public static final SnapshotStatus NONE = new SnapshotStatus(0, 0, 0, 0, 0, 0);

  SnapshotStatus written(long atNanos, long bytes, long pauseNanos, long tookNanos) {
    return new SnapshotStatus(
        written + 1, failed, atNanos, bytes, tookNanos / 1e9, pauseNanos / 1e9);
  }

  SnapshotStatus failed(long pauseNanos) {
    double pause = pauseNanos < 0 ? pauseSeconds : pauseNanos / 1e9;
    return new SnapshotStatus(written, failed + 1, atNanos, bytes, writeSeconds, pause);
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
