package dev.warmpath.router.observe;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.dispatch.Assignment;
import dev.warmpath.router.fleet.dispatch.DispatchListener;
import dev.warmpath.router.fleet.dispatch.DispatchResult;
import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.engine.Outcome;
import dev.warmpath.router.proxy.ProxyListener;
import dev.warmpath.router.proxy.Route;
import dev.warmpath.router.proxy.Usage;
import dev.warmpath.tokenizer.body.FallbackCause;
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
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Counts what happens to requests, and holds the registry in which everything is scraped.
 *
 * <p>Thread-safe.
 */
public final class RouterMetrics implements ProxyListener, DispatchListener, AutoCloseable {

  /** Uneven on purpose: an error of one token is as telling as none of its size. */
  private static final double[] ERROR_BOUNDS = {
    -16_384, -4_096, -1_024, -256, -64, -16, -1, 0, 15, 63, 255, 1_023, 4_095, 16_383
  };

  /** Stands for every model that the replica did not name, so that clients cannot add labels. */
  private static final String OTHER_MODEL = "other";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Meters meters = new Meters(registry);
  private final Histogram predictionError =
      Histogram.builder()
          .name(Metric.PREDICTION_ERROR_TOKENS.exposed())
          .help(Metric.PREDICTION_ERROR_TOKENS.meaning())
          .labelNames(Metric.PREDICTION_ERROR_TOKENS.labels().toArray(String[]::new))
          .withoutExemplars()
          .classicOnly()
          .classicUpperBounds(ERROR_BOUNDS)
          .register(registry.getPrometheusRegistry());

  private final JvmGcMetrics collections = new JvmGcMetrics();

  public RouterMetrics() {
    Stream.of(
            new JvmMemoryMetrics(),
            new JvmThreadMetrics(),
            new ProcessorMetrics(),
            new FileDescriptorMetrics(),
            new UptimeMetrics(),
            collections)
        .forEach(binder -> binder.bindTo(registry));
    add(to -> to.add(Metric.BUILD_INFO, 1, version(), Runtime.version().toString()));
  }

  /** The version that runs; {@code dev} for classes that were not packed. */
  public static String version() {
    String version = RouterMetrics.class.getPackage().getImplementationVersion();
    return version == null ? "dev" : version;
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

  /** Stops listening to the garbage collector. */
  @Override
  public void close() {
    collections.close();
  }

  /** Drops what was counted of a replica and its engines. */
  public void forget(Replica replica) {
    meters.forget(replica);
    Meters.engines(replica).forEach(predictionError::remove);
  }

  /** What is counted of a replica that has left meanwhile is dropped again. */
  private void dropIfGone(Replica replica) {
    if (replica.isGone()) {
      forget(replica);
    }
  }

  /** Shows {@code reader} each counter of requests as it stands. */
  public void read(CounterReader reader) {
    meters.read(reader);
  }

  /** The histogram of {@code metric}, one for each value of its label. */
  public List<Buckets> buckets(Metric metric) {
    return meters.buckets(metric);
  }

  /** The metrics as text. */
  public String scrape() {
    return registry.scrape();
  }

  @Override
  public void ended(Route route, int status, Ending ending, long durationNanos) {
    meters.count(Metric.REQUESTS_TOTAL, route.path(), Integer.toString(status), label(ending));
    meters
        .timer(Metric.REQUEST_DURATION_SECONDS, route.path())
        .record(durationNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void firstByte(Route route, Replica replica, long sinceRequestNanos) {
    if (!replica.isGone()) {
      meters
          .timer(Metric.FIRST_BYTE_SECONDS, replica.name())
          .record(sinceRequestNanos, TimeUnit.NANOSECONDS);
      dropIfGone(replica);
    }
  }

  @Override
  public void sent(long routingNanos) {
    meters.timer(Metric.ROUTING_SECONDS, null).record(routingNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void tokens(Replica replica, long sinceLastNanos) {
    if (!replica.isGone()) {
      meters
          .timer(Metric.INTER_TOKEN_SECONDS, replica.name())
          .record(sinceLastNanos, TimeUnit.NANOSECONDS);
      dropIfGone(replica);
    }
  }

  @Override
  public void usage(Assignment assignment, @Nullable String model, Usage usage) {
    Replica replica = assignment.replica();
    if (replica.isGone()) {
      return;
    }
    String named = Objects.requireNonNullElse(model, OTHER_MODEL);
    String label = replica.models().contains(named) ? named : OTHER_MODEL;
    String engine = assignment.engine();
    count(Metric.PROMPT_TOKENS_TOTAL, label, engine, usage.promptTokens());
    count(Metric.CACHED_TOKENS_TOTAL, label, engine, usage.cachedTokens());
    count(Metric.ANSWER_TOKENS_TOTAL, label, engine, usage.answerTokens());
    dropIfGone(replica);
  }

  private void count(Metric metric, String model, String engine, int tokens) {
    if (tokens != Usage.ABSENT) {
      meters.count(metric, model, engine, tokens);
    }
  }

  @Override
  public void retried(String cause) {
    meters.count(Metric.RETRIES_TOTAL, cause);
  }

  @Override
  public void queued(long sinceRequestNanos) {
    meters.timer(Metric.QUEUE_WAIT_SECONDS, null).record(sinceRequestNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void rejected(String code) {
    meters.count(Metric.REJECTED_TOTAL, code);
  }

  @Override
  public void assigned(
      PreparedRequest request, String policy, String reason, Assignment assignment) {
    if (!assignment.replica().isGone()) {
      meters.count(Metric.ASSIGNMENTS_TOTAL, assignment.engine(), policy, reason);
      dropIfGone(assignment.replica());
    }
  }

  @Override
  public void unassigned(DispatchResult.Cause cause) {
    meters.count(Metric.UNASSIGNED_TOTAL, cause.label());
  }

  @Override
  public void fallback(FallbackCause cause) {
    if (cause != FallbackCause.NO_PROMPT) {
      meters.count(Metric.FALLBACKS_TOTAL, cause.label());
    }
  }

  @Override
  public void compared(Assignment assignment, int predictedTokens, int actualTokens) {
    if (!assignment.replica().isGone()) {
      predicted(assignment.engine(), predictedTokens, actualTokens);
      dropIfGone(assignment.replica());
    }
  }

  void predicted(String engine, int predictedTokens, int actualTokens) {
    int error = predictedTokens - actualTokens;
    String result = error == 0 ? "exact" : error > 0 ? "over" : "under";
    meters.count(Metric.PREDICTIONS_TOTAL, engine, result);
    int hit = Math.min(predictedTokens, actualTokens);
    meters.count(Metric.PREDICTED_TOKENS_TOTAL, engine, "hit", hit);
    meters.count(Metric.PREDICTED_TOKENS_TOTAL, engine, "over", predictedTokens - hit);
    meters.count(Metric.PREDICTED_TOKENS_TOTAL, engine, "under", actualTokens - hit);
    predictionError.labelValues(engine).observe(error);
  }

  @Override
  public void miscounted(Assignment assignment, int routerTokens, int engineTokens) {
    if (!assignment.replica().isGone()) {
      meters.count(Metric.PROMPT_MISCOUNTS_TOTAL, assignment.engine());
      dropIfGone(assignment.replica());
    }
  }

  @Override
  public void finished(Assignment assignment, Outcome outcome) {
    if (!assignment.replica().isGone()) {
      meters.count(Metric.OUTCOMES_TOTAL, assignment.engine(), label(outcome));
      dropIfGone(assignment.replica());
    }
  }

  /** The configuration was read anew. */
  public void reloaded(String result) {
    meters.count(Metric.CONFIG_RELOADS_TOTAL, result);
  }

  /** An engine was asked for a prompt. */
  public void remote(String source, String outcome) {
    meters.count(Metric.REMOTE_PROMPTS_TOTAL, source, outcome);
  }

  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
