package dev.warmpath.router.metrics;

import dev.warmpath.eventingest.VisibleTimes;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Gauges, counters and histograms as they are at one moment.
 *
 * <p>Confined to the scraping thread.
 */
public final class MetricValues {

  private final Map<Metric, GaugeSnapshot.Builder> gauges = new EnumMap<>(Metric.class);
  private final Map<Metric, CounterSnapshot.Builder> counters = new EnumMap<>(Metric.class);
  private final List<HistogramSnapshot> histograms = new ArrayList<>();

  public void add(Metric metric, Number number, String... labelValues) {
    double value = number.doubleValue();
    Labels labels = Labels.of(metric.labels(), Arrays.asList(labelValues));
    if (metric.type() == Metric.Type.COUNTER) {
      counters
          .computeIfAbsent(metric, MetricValues::counter)
          .dataPoint(CounterDataPointSnapshot.builder().labels(labels).value(value).build());
    } else {
      gauges
          .computeIfAbsent(metric, MetricValues::gauge)
          .dataPoint(GaugeDataPointSnapshot.builder().labels(labels).value(value).build());
    }
  }

  public void add(Metric metric, VisibleTimes times) {
    ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
    for (int i = 0; i < times.buckets(); i++) {
      buckets.bucket(times.boundSeconds(i), times.count(i));
    }
    histograms.add(
        HistogramSnapshot.builder()
            .name(metric.exposed())
            .help(metric.meaning())
            .dataPoint(
                HistogramDataPointSnapshot.builder()
                    .classicHistogramBuckets(buckets.build())
                    .sum(times.sumSeconds())
                    .build())
            .build());
  }

  MetricSnapshots build() {
    MetricSnapshots.Builder all = MetricSnapshots.builder();
    gauges.values().forEach(gauge -> all.metricSnapshot(gauge.build()));
    counters.values().forEach(counter -> all.metricSnapshot(counter.build()));
    histograms.forEach(all::metricSnapshot);
    return all.build();
  }

  private static GaugeSnapshot.Builder gauge(Metric metric) {
    return GaugeSnapshot.builder().name(metric.exposed()).help(metric.meaning());
  }

  private static CounterSnapshot.Builder counter(Metric metric) {
    return CounterSnapshot.builder().name(metric.family()).help(metric.meaning());
  }
}
