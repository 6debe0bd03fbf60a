package dev.warmpath.router.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * All that can be scraped: counters and timers of the rooms, and sources that are read at a scrape.
 *
 * <p>Thread-safe.
 */
public final class Metrics implements AutoCloseable {

  /** Uneven on purpose: an error of one token is as telling as none of its size. */
  private static final double[] ERROR_BOUNDS = {
    -16_384, -4_096, -1_024, -256, -64, -16, -1, 0, 15, 63, 255, 1_023, 4_095, 16_383
  };

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  /** Prometheus' own, because Micrometer records nothing below 0. */
  private final Histogram predictionErrors =
      Histogram.builder()
          .name(Metric.PREDICTION_ERROR_TOKENS.exposed())
          .help(Metric.PREDICTION_ERROR_TOKENS.meaning())
          .labelNames(Metric.PREDICTION_ERROR_TOKENS.labels().toArray(String[]::new))
          .withoutExemplars()
          .classicOnly()
          .classicUpperBounds(ERROR_BOUNDS)
          .register(registry.getPrometheusRegistry());

  private final JvmGcMetrics collections = new JvmGcMetrics();

  /** The version that runs; {@code dev} for classes that were not packed. */
  public static String version() {
    String version = Metrics.class.getPackage().getImplementationVersion();
    return version == null ? "dev" : version;
  }

  /** Measures the process too. */
  public Metrics ofTheProcess() {
    Stream.of(
            new JvmMemoryMetrics(),
            new JvmThreadMetrics(),
            new ProcessorMetrics(),
            new FileDescriptorMetrics(),
            new UptimeMetrics(),
            collections)
        .forEach(binder -> binder.bindTo(registry));
    add(to -> to.add(Metric.BUILD_INFO, 1, version(), Runtime.version().toString()));
    return this;
  }

  /** Where rooms keep their counters and timers. */
  public MeterRegistry registry() {
    return registry;
  }

  /** Where metrics are kept whose names others have given. */
  public PrometheusRegistry foreign() {
    return registry.getPrometheusRegistry();
  }

  /** {@link Metric#PREDICTION_ERROR_TOKENS}, by engine. */
  public Histogram predictionErrors() {
    return predictionErrors;
  }

  /** Adds gauges and counters that are read at each scrape. */
  public void add(Consumer<MetricValues> source) {
    MultiCollector collector =
        () -> {
          MetricValues now = new MetricValues();
          source.accept(now);
          return now.build();
        };
    registry.getPrometheusRegistry().register(collector);
  }

  /** The metrics as text. */
  public String scrape() {
    return registry.scrape();
  }

  /** Stops listening to the garbage collector. */
  @Override
  public void close() {
    collections.close();
  }
}
