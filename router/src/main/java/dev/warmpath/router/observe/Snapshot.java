package dev.warmpath.router.observe;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/**
 * Gauges and counters as they are at one moment.
 *
 * <p>Confined to the scraping thread.
 */
final class Snapshot {

  private final Map<Metric, GaugeSnapshot.Builder> gauges = new EnumMap<>(Metric.class);
  private final Map<Metric, CounterSnapshot.Builder> counters = new EnumMap<>(Metric.class);

  void add(Metric metric, Number number, String... labelValues) {
    double value = number.doubleValue();
    Labels labels = Labels.of(metric.labels(), Arrays.asList(labelValues));
    if (metric.type() == Metric.Type.COUNTER) {
      counters
          .computeIfAbsent(metric, Snapshot::counter)
          .dataPoint(CounterDataPointSnapshot.builder().labels(labels).value(value).build());
    } else {
      gauges
          .computeIfAbsent(metric, Snapshot::gauge)
          .dataPoint(GaugeDataPointSnapshot.builder().labels(labels).value(value).build());
    }
  }

  MetricSnapshots build() {
    MetricSnapshots.Builder all = MetricSnapshots.builder();
    gauges.values().forEach(gauge -> all.metricSnapshot(gauge.build()));
    counters.values().forEach(counter -> all.metricSnapshot(counter.build()));
    return all.build();
  }

  private static GaugeSnapshot.Builder gauge(Metric metric) {
    return GaugeSnapshot.builder().name(metric.exposed()).help(metric.meaning());
  }

  private static CounterSnapshot.Builder counter(Metric metric) {
    return CounterSnapshot.builder().name(metric.family()).help(metric.meaning());
  }
}
