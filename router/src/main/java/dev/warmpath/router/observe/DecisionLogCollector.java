package dev.warmpath.router.observe;

import dev.warmpath.router.decision.DecisionLog;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.function.Supplier;

/**
 * Reads the state of the decision log when a scrape asks for it.
 *
 * <p>Thread-safe if its source is.
 */
public final class DecisionLogCollector implements MultiCollector {

  private final Supplier<DecisionLog.Status> status;

  public DecisionLogCollector(Supplier<DecisionLog.Status> status) {
    this.status = status;
  }

  @Override
  public MetricSnapshots collect() {
    DecisionLog.Status now = status.get();
    Snapshot to = new Snapshot();
    to.add(Metric.DECISION_LOG_RECORDS_TOTAL, now.written());
    now.dropped()
        .forEach((cause, n) -> to.add(Metric.DECISION_LOG_DROPPED_TOTAL, n, cause.label()));
    to.add(Metric.DECISION_LOG_BYTES, now.fileBytes());
    to.add(Metric.DECISION_LOG_QUEUE_BYTES, now.queuedBytes());
    to.add(Metric.DECISION_LOG_QUEUE_MAX_BYTES, now.queueBytes());
    return to.build();
  }
}
