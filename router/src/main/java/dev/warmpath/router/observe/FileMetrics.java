package dev.warmpath.router.observe;

import dev.warmpath.router.capture.CaptureStatus;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.requestlog.RequestLog;
import dev.warmpath.router.trace.Tracing;

/** How the capture, the logs of requests and their traces stand. */
public final class FileMetrics {

  private FileMetrics() {}

  public static void capture(MetricValues to, CaptureStatus now) {
    now.written().forEach((kind, n) -> to.add(Metric.CAPTURE_RECORDS_TOTAL, n, kind.label()));
    now.dropped().forEach((kind, n) -> to.add(Metric.CAPTURE_DROPPED_TOTAL, n, kind.label()));
    to.add(Metric.CAPTURE_QUEUE_BYTES, now.queuedBytes());
    to.add(Metric.CAPTURE_QUEUE_SHARE, (double) now.queuedBytes() / now.queueBytes());
    to.add(Metric.CAPTURE_FAILING, now.failing() ? 1 : 0);
  }

  /** The log {@code name}: {@code decision} or {@code access}. */
  public static void log(MetricValues to, String name, RequestLog.Status now) {
    to.add(Metric.REQUEST_LOG_RECORDS_TOTAL, now.written(), name);
    now.dropped()
        .forEach((cause, n) -> to.add(Metric.REQUEST_LOG_DROPPED_TOTAL, n, name, cause.label()));
    to.add(Metric.REQUEST_LOG_BYTES, now.fileBytes(), name);
    to.add(Metric.REQUEST_LOG_QUEUE_BYTES, now.queuedBytes(), name);
    to.add(Metric.REQUEST_LOG_QUEUE_MAX_BYTES, now.queueBytes(), name);
  }

  public static void traces(MetricValues to, Tracing tracing) {
    to.add(Metric.TRACE_SPANS_TOTAL, tracing.exported(), "exported");
    to.add(Metric.TRACE_SPANS_TOTAL, tracing.failed(), "failed");
    to.add(Metric.TRACE_SPANS_TOTAL, tracing.dropped(), "dropped");
  }
}
