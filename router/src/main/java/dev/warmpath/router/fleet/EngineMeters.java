package dev.warmpath.router.fleet;

import dev.warmpath.router.metrics.Counters;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.Metrics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What is counted of one engine's requests. Each series begins with its first count, and leaves the
 * scrape with the engine.
 *
 * <p>Thread-safe.
 */
public final class EngineMeters {

  /** The engine did not say how many tokens. */
  public static final int ABSENT = -1;

  /** Stands for every model that the replica did not name, so that clients cannot add labels. */
  private static final String OTHER_MODEL = "other";

  private final Replica replica;
  private final String engine;
  private final Metrics metrics;

  /** Where new series are shown; one that shows nothing once the engine is gone. */
  private MeterRegistry registry;

  private boolean gone;
  private final List<Meter> own = new ArrayList<>();

  private final Map<String, Counters<String>> assignments = new ConcurrentHashMap<>();
  private final Counters<Outcome> outcomes;
  private final Counters<String> promptTokens;
  private final Counters<String> cachedTokens;
  private final Counters<String> answerTokens;
  private final Counters<String> predictions;
  private final Counters<String> predictedTokens;
  private final Counters<String> slowTierTokens;
  private final Counters<String> prewarms;
  private volatile @Nullable Counter prewarmedTokens;
  private final Map<String, Counters<String>> pairs = new ConcurrentHashMap<>();
  private volatile @Nullable DistributionDataPoint predictionErrors;
  private volatile @Nullable Counter miscounts;
  private volatile @Nullable Timer firstBytes;
  private volatile @Nullable Timer tokenGaps;

  EngineMeters(Replica replica, String engine, Metrics metrics) {
    this.replica = replica;
    this.engine = engine;
    this.metrics = metrics;
    this.registry = metrics.registry();
    this.outcomes =
        new Counters<>(
            ended -> counter(Metric.OUTCOMES_TOTAL, engine, ended.name().toLowerCase(Locale.ROOT)));
    this.promptTokens = byModel(Metric.PROMPT_TOKENS_TOTAL);
    this.cachedTokens = byModel(Metric.CACHED_TOKENS_TOTAL);
    this.answerTokens = byModel(Metric.ANSWER_TOKENS_TOTAL);
    this.predictions = new Counters<>(result -> counter(Metric.PREDICTIONS_TOTAL, engine, result));
    this.slowTierTokens =
        new Counters<>(result -> counter(Metric.SLOW_TIER_TOKENS_TOTAL, engine, result));
    this.prewarms =
        new Counters<>(result -> counter(Metric.PREWARM_REQUESTS_TOTAL, engine, result));
    this.predictedTokens =
        new Counters<>(result -> counter(Metric.PREDICTED_TOKENS_TOTAL, engine, result));
  }

  private Counters<String> byModel(Metric metric) {
    return new Counters<>(model -> counter(metric, model, engine));
  }

  /** The label for a request's model, which may be null, at a replica. */
  public static String modelLabel(Replica replica, @Nullable String model) {
    return model != null && replica.models().contains(model) ? model : OTHER_MODEL;
  }

  /** It was given a request. */
  public void countAssignment(String policy, String reason) {
    Counters<String> ofPolicy = assignments.get(policy);
    if (ofPolicy == null) {
      ofPolicy = assignments.computeIfAbsent(policy, this::byReason);
    }
    ofPolicy.of(reason).increment();
  }

  private Counters<String> byReason(String policy) {
    return new Counters<>(why -> counter(Metric.ASSIGNMENTS_TOTAL, engine, policy, why));
  }

  /** It was given a request of whose prompt only its slower memory holds so much. */
  public void countSlowTier(String result, int tokens) {
    slowTierTokens.of(result).increment(tokens);
  }

  /** A request that was split went so, of which this engine had one leg. */
  public void countPair(String leg, String result) {
    Counters<String> ofLeg = pairs.get(leg);
    if (ofLeg == null) {
      ofLeg = pairs.computeIfAbsent(leg, this::byResult);
    }
    ofLeg.of(result).increment();
  }

  /** Requests that were handed over from it or to it. */
  public long handedOver() {
    return (long) pairs.values().stream().mapToDouble(leg -> leg.of("handed_over").count()).sum();
  }

  private Counters<String> byResult(String leg) {
    return new Counters<>(result -> counter(Metric.SPLIT_PAIRS_TOTAL, engine, leg, result));
  }

  /** It was asked to compute a prefix, and so many tokens of it. */
  public void countPrewarm(String result, int tokens) {
    prewarms.of(result).increment();
    Counter counter = prewarmedTokens;
    if (counter == null) {
      counter = counter(Metric.PREWARM_TOKENS_TOTAL, engine);
      prewarmedTokens = counter;
    }
    counter.increment(tokens);
  }

  public void countOutcome(Outcome outcome) {
    outcomes.of(outcome).increment();
  }

  /** The first byte of a good response, no comment, came this long after the request. */
  public void recordFirstByte(long sinceRequestNanos) {
    Timer timer = firstBytes;
    if (timer == null) {
      timer = timer(Metric.FIRST_BYTE_SECONDS);
      firstBytes = timer;
    }
    timer.record(sinceRequestNanos, TimeUnit.NANOSECONDS);
  }

  /** Another chunk of a stream brought parts of the answer, so long after the last one. */
  public void recordTokenGap(long sinceLastNanos) {
    Timer timer = tokenGaps;
    if (timer == null) {
      timer = timer(Metric.INTER_TOKEN_SECONDS);
      tokenGaps = timer;
    }
    timer.record(sinceLastNanos, TimeUnit.NANOSECONDS);
  }

  /**
   * A good response is complete. Figures that the engine did not report are {@link #ABSENT}.
   *
   * @param model the model that the request names, or null
   */
  public void countTokens(@Nullable String model, int prompt, int cached, int answer) {
    String label = modelLabel(replica, model);
    if (prompt != ABSENT) {
      promptTokens.of(label).increment(prompt);
    }
    if (cached != ABSENT) {
      cachedTokens.of(label).increment(cached);
    }
    if (answer != ABSENT) {
      answerTokens.of(label).increment(answer);
    }
  }

  /** It reported its cached tokens for a request that had a prediction. */
  public void countPrediction(int predictedTokenCount, int actualTokenCount) {
    int error = predictedTokenCount - actualTokenCount;
    String result = error == 0 ? "exact" : error > 0 ? "over" : "under";
    predictions.of(result).increment();
    int hit = Math.min(predictedTokenCount, actualTokenCount);
    predictedTokens.of("hit").increment(hit);
    predictedTokens.of("over").increment(predictedTokenCount - hit);
    predictedTokens.of("under").increment(actualTokenCount - hit);
    DistributionDataPoint errors = predictionErrors();
    if (errors != null) {
      errors.observe(error);
    }
  }

  private @Nullable DistributionDataPoint predictionErrors() {
    DistributionDataPoint known = predictionErrors;
    return known == null ? newPredictionErrors() : known;
  }

  private synchronized @Nullable DistributionDataPoint newPredictionErrors() {
    if (!gone) {
      predictionErrors = metrics.predictionErrors().labelValues(engine);
    }
    return predictionErrors;
  }

  /** It counts a prompt's tokens otherwise than the router. */
  public void countMiscount() {
    Counter counter = miscounts;
    if (counter == null) {
      counter = counter(Metric.PROMPT_MISCOUNTS_TOTAL, engine);
      miscounts = counter;
    }
    counter.increment();
  }

  private Counter counter(Metric metric, String... labelValues) {
    return shown(shows -> metric.counter(shows, labelValues));
  }

  /** The ranks of a replica share its timers. */
  private Timer timer(Metric metric) {
    return shown(shows -> metric.timer(shows, replica.name()));
  }

  private synchronized <M extends Meter> M shown(Function<MeterRegistry, M> lookup) {
    M meter = lookup.apply(registry);
    own.add(meter);
    return meter;
  }

  /** The engine has left: nothing of it is shown any more, whatever its last requests count. */
  synchronized void forget() {
    own.forEach(registry::remove);
    own.clear();
    metrics.predictionErrors().remove(engine);
    registry = new CompositeMeterRegistry();
    gone = true;
  }
}
