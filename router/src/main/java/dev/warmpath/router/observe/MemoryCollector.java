package dev.warmpath.router.observe;

import dev.warmpath.eventingest.snapshot.Recovery;
import dev.warmpath.eventingest.snapshot.file.SnapshotRefusedException.Reason;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.snapshot.SnapshotStatus;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Reads how snapshots and the recovery from one stand when a scrape asks for it.
 *
 * <p>Thread-safe if its sources are.
 */
public final class MemoryCollector {

  /** Where the state is read. */
  public record Sources(
      Supplier<SnapshotStatus> snapshots,
      Supplier<Map<Reason, Integer>> refused,
      Recovery recovery,
      LongSupplier nanoClock) {}

  private final Sources sources;

  public MemoryCollector(Sources sources) {
    this.sources = sources;
  }

  public void collect(MetricValues to) {
    snapshots(to, sources.snapshots().get());
    Map<Reason, Integer> refused = sources.refused().get();
    for (Reason reason : Reason.values()) {
      int count = refused.getOrDefault(reason, 0);
      to.add(Metric.SNAPSHOTS_REFUSED_TOTAL, count, reason.label());
    }
    recovery(to, sources.recovery().report());
  }

  private void snapshots(MetricValues to, SnapshotStatus status) {
    to.add(Metric.SNAPSHOT_WRITES_TOTAL, status.written(), "written");
    to.add(Metric.SNAPSHOT_WRITES_TOTAL, status.failed(), "failed");
    to.add(Metric.SNAPSHOT_PAUSE_SECONDS, status.pauseSeconds());
    if (status.written() > 0) {
      double age = (sources.nanoClock().getAsLong() - status.atNanos()) / 1e9;
      to.add(Metric.SNAPSHOT_AGE_SECONDS, age);
      to.add(Metric.SNAPSHOT_BYTES, status.bytes());
      to.add(Metric.SNAPSHOT_WRITE_SECONDS, status.writeSeconds());
    }
  }

  private static void recovery(MetricValues to, Recovery.Report report) {
    if (report.begun()) {
      report
          .engines()
          .forEach((fate, count) -> to.add(Metric.RECOVERY_ENGINES, count, fate.label()));
      to.add(Metric.RECOVERY_SHARE, report.share());
      to.add(Metric.RECOVERY_SECONDS, report.seconds());
    }
  }
}
