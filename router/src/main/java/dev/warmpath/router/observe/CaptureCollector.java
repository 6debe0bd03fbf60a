package dev.warmpath.router.observe;

import dev.warmpath.router.capture.CaptureStatus;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.function.Supplier;

/**
 * Reads how the capture stands when a scrape asks for it.
 *
 * <p>Thread-safe if its source is.
 */
public final class CaptureCollector implements MultiCollector {

  private final Supplier<CaptureStatus> status;

  public CaptureCollector(Supplier<CaptureStatus> status) {
    this.status = status;
  }

  @Override
  public MetricSnapshots collect() {
    CaptureStatus now = status.get();
    Snapshot to = new Snapshot();
    now.written().forEach((kind, n) -> to.add(Metric.CAPTURE_RECORDS_TOTAL, n, kind.label()));
    now.dropped().forEach((kind, n) -> to.add(Metric.CAPTURE_DROPPED_TOTAL, n, kind.label()));
    to.add(Metric.CAPTURE_QUEUE_BYTES, now.queuedBytes());
    to.add(Metric.CAPTURE_QUEUE_SHARE, (double) now.queuedBytes() / now.queueBytes());
    to.add(Metric.CAPTURE_FAILING, now.failing() ? 1 : 0);
    return to.build();
  }
}
