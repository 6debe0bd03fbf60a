package dev.warmpath.router.observe;

import dev.warmpath.router.capture.CaptureStatus;
import dev.warmpath.router.decision.DecisionLog;

/** How the capture and the decision log stand. */
public final class FileMetrics {

  private FileMetrics() {}

  public static void capture(MetricValues to, CaptureStatus now) {
    now.written().forEach((kind, n) -> to.add(Metric.CAPTURE_RECORDS_TOTAL, n, kind.label()));
    now.dropped().forEach((kind, n) -> to.add(Metric.CAPTURE_DROPPED_TOTAL, n, kind.label()));
    to.add(Metric.CAPTURE_QUEUE_BYTES, now.queuedBytes());
    to.add(Metric.CAPTURE_QUEUE_SHARE, (double) now.queuedBytes() / now.queueBytes());
    to.add(Metric.CAPTURE_FAILING, now.failing() ? 1 : 0);
  }

  public static void decisions(MetricValues to, DecisionLog.Status now) {
    to.add(Metric.DECISION_LOG_RECORDS_TOTAL, now.written());
    now.dropped()
        .forEach((cause, n) -> to.add(Metric.DECISION_LOG_DROPPED_TOTAL, n, cause.label()));
    to.add(Metric.DECISION_LOG_BYTES, now.fileBytes());
    to.add(Metric.DECISION_LOG_QUEUE_BYTES, now.queuedBytes());
    to.add(Metric.DECISION_LOG_QUEUE_MAX_BYTES, now.queueBytes());
  }
}
