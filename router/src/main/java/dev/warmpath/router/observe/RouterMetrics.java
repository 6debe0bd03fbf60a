package dev.warmpath.router.observe;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.dispatch.Assignment;
import dev.warmpath.router.fleet.dispatch.DispatchListener;
import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.dispatch.DispatchResult;
import dev.warmpath.router.fleet.engine.Outcome;
import dev.warmpath.router.fleet.engine.EngineState;
import dev.warmpath.router.proxy.ProxyListener;
import dev.warmpath.router.proxy.Route;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.core.metrics.Histogram;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Counts what happens to requests, and holds the registry in which everything is scraped.
 *
 * <p>Thread-safe.
 */
public final class RouterMetrics implements ProxyListener, DispatchListener {

  private static final Duration[] BUCKETS = {
    Duration.ofMillis(1),
    Duration.ofMillis(3),
    Duration.ofMillis(10),
    Duration.ofMillis(30),
    Duration.ofMillis(100),
    Duration.ofMillis(300),
    Duration.ofSeconds(1),
    Duration.ofSeconds(3),
    Duration.ofSeconds(10),
    Duration.ofSeconds(30),
    Duration.ofSeconds(100),
    Duration.ofSeconds(300)
  };

  /** Uneven on purpose: an error of one token is as telling as none of its size. */
  private static final double[] ERROR_BOUNDS = {
    -16_384, -4_096, -1_024, -256, -64, -16, -1, 0, 15, 63, 255, 1_023, 4_095, 16_383
  };

  private static final String NO_PROMPT = "no_prompt";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Histogram predictionError =
      Histogram.builder()
          .name(Metric.PREDICTION_ERROR_TOKENS.exposed())
          .help(Metric.PREDICTION_ERROR_TOKENS.meaning())
          .labelNames(Metric.PREDICTION_ERROR_TOKENS.labels().toArray(String[]::new))
          .withoutExemplars()
          .classicOnly()
          .classicUpperBounds(ERROR_BOUNDS)
          .register(registry.getPrometheusRegistry());

  /**
   * Gauges of Vert.x are left out: several event loops and destinations register theirs under one
   * name, of which only the first would show. There are gauges of our own.
   */
  public RouterMetrics() {
    registry.config().meterFilter(MeterFilter.deny(RouterMetrics::isGaugeOfVertx));
  }

  private static boolean isGaugeOfVertx(Meter.Id id) {
    return id.getType() == Meter.Type.GAUGE && id.getName().startsWith("vertx.");
  }

  /** Where all metrics are. */
  public PrometheusMeterRegistry registry() {
    return registry;
  }

  /** Drops what was counted of a replica and its engines. */
  public void forget(Replica replica) {
    registry.getMeters().stream()
        .filter(meter -> isOf(replica, meter.getId()))
        .forEach(registry::remove);
    engines(replica).forEach(predictionError::remove);
  }

  private static boolean isOf(Replica replica, Meter.Id id) {
    return replica.name().equals(id.getTag("replica"))
        || engines(replica).anyMatch(engine -> engine.equals(id.getTag("engine")));
  }

  private static Stream<String> engines(Replica replica) {
    return IntStream.range(0, replica.ranks()).mapToObj(rank -> EngineState.name(replica, rank));
  }

  /** The metrics as text. */
  public String scrape() {
    return registry.scrape();
  }

  @Override
  public void ended(Route route, int status, Ending ending, long durationNanos) {
    count(Metric.REQUESTS_TOTAL, route.path(), Integer.toString(status), label(ending));
    timer(Metric.REQUEST_DURATION_SECONDS, route.path()).record(Duration.ofNanos(durationNanos));
  }

  @Override
  public void firstByte(Route route, String replica, long sinceRequestNanos) {
    timer(Metric.FIRST_BYTE_SECONDS, replica).record(Duration.ofNanos(sinceRequestNanos));
  }

  @Override
  public void retried(String cause) {
    count(Metric.RETRIES_TOTAL, cause);
  }

  @Override
  public void rejected(String code) {
    count(Metric.REJECTED_TOTAL, code);
  }

  @Override
  public void unread(String cause) {
    count(Metric.FALLBACKS_TOTAL, cause);
  }

  @Override
  public void assigned(
      PreparedRequest request, String policy, String reason, Assignment assignment) {
    count(Metric.PICKS_TOTAL, assignment.engine(), policy, reason);
  }

  @Override
  public void unassigned(DispatchResult.Cause cause) {
    count(Metric.UNASSIGNED_TOTAL, cause.label());
  }

  /** A prompt that was not read was counted by its own cause already. */
  @Override
  public void fallback(String cause) {
    if (!cause.equals(NO_PROMPT)) {
      count(Metric.FALLBACKS_TOTAL, cause);
    }
  }

  @Override
  public void compared(Assignment assignment, int predictedTokens, int actualTokens) {
    predicted(assignment.engine(), predictedTokens, actualTokens);
  }

  void predicted(String engine, int predictedTokens, int actualTokens) {
    int error = predictedTokens - actualTokens;
    String result = error == 0 ? "exact" : error > 0 ? "over" : "under";
    count(Metric.PREDICTIONS_TOTAL, engine, result);
    predictionError.labelValues(engine).observe(error);
  }

  @Override
  public void miscounted(Assignment assignment, int routerTokens, int engineTokens) {
    count(Metric.PROMPT_MISCOUNTS_TOTAL, assignment.engine());
  }

  @Override
  public void finished(Assignment assignment, Outcome outcome) {
    count(Metric.OUTCOMES_TOTAL, assignment.engine(), label(outcome));
  }

  /** An engine was asked for a prompt. */
  public void remote(String source, String outcome) {
    count(Metric.REMOTE_PROMPTS_TOTAL, source, outcome);
  }

  private void count(Metric metric, String... values) {
    Counter.builder(metric.registered())
        .description(metric.meaning())
        .tags(tags(metric, values))
        .register(registry)
        .increment();
  }

  private Timer timer(Metric metric, String... values) {
    return Timer.builder(metric.registered())
        .description(metric.meaning())
        .serviceLevelObjectives(BUCKETS)
        .tags(tags(metric, values))
        .register(registry);
  }

  private static List<Tag> tags(Metric metric, String... values) {
    List<Tag> tags = new ArrayList<>(values.length);
    for (int i = 0; i < values.length; i++) {
      tags.add(Tag.of(metric.labels().get(i), values[i]));
    }
    return tags;
  }

  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
