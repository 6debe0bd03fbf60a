package dev.warmpath.router.observe;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.dispatch.Assignment;
import dev.warmpath.router.fleet.dispatch.DispatchListener;
import dev.warmpath.router.fleet.dispatch.DispatchResult;
import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.engine.Outcome;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.proxy.ProxyListener;
import dev.warmpath.router.proxy.Route;
import dev.warmpath.router.proxy.Usage;
import dev.warmpath.tokenizer.body.FallbackCause;
import io.prometheus.metrics.core.metrics.Histogram;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Counts what happens to requests.
 *
 * <p>Thread-safe.
 */
public final class RouterMetrics implements ProxyListener, DispatchListener {

  /** Stands for every model that the replica did not name, so that clients cannot add labels. */
  private static final String OTHER_MODEL = "other";

  private final Meters meters;
  private final Histogram predictionError;

  public RouterMetrics(Metrics metrics) {
    meters = new Meters(metrics.registry());
    predictionError = metrics.predictionErrors();
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

  public void predicted(String engine, int predictedTokens, int actualTokens) {
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

  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
