package dev.warmpath.router.console;

import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.routing.PrefillCost;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Adds up what the metrics of requests count over all replicas. What a replica counted before it
 * left stays in the sums.
 *
 * <p>Confined to its history's lock.
 */
public final class Totals {

  /*
   * Counters of replicas come and go, so sums of them may fall. Each counter is therefore remembered
   * with its last value, and only what it grew by is added; one that fell began again at zero.
   */

  /** Where the counters are. */
  public record Sources(
      MeterRegistry metrics,
      Dispatcher dispatcher,
      Supplier<List<EngineStatus>> streams,
      LongSupplier nanoClock) {}

  /** Names beyond so many are counted as one. */
  private static final int MOST_NAMES = 64;

  private static final String OTHERS = "other";

  private final Sources sources;
  private Map<Object, Double> last = new HashMap<>();
  private Map<Object, Latencies> lastTimes = new HashMap<>();
  private double requests;
  private final Map<String, Double> refusals = new HashMap<>();
  private final Map<String, Double> picks = new HashMap<>();
  private final Map<String, Double> uncached = new HashMap<>();
  private final Map<String, HitRateCounts> engines = new HashMap<>();
  private Reading.Tokens tokens = new Reading.Tokens(0, 0, 0);
  private Latencies firstBytes = Latencies.NONE;
  private Latencies interTokens = Latencies.NONE;
  private double gaps;
  private double replays;

  Totals(Sources sources) {
    this.sources = sources;
  }

  /** How everything stands now. */
  Reading read() {
    Pass pass = new Pass();
    pass.requests();
    Map<String, PrefillCost> costs = new HashMap<>();
    int inFlight = 0;
    for (EngineReport engine : sources.dispatcher().report()) {
      costs.put(engine.engine(), engine.state().prefillCost());
      inFlight += engine.state().load().requestsInFlight();
    }
    pass.engines()
        .forEach((name, growth) -> {
          PrefillCost cost = costs.get(name);
          if (cost != null) {
            add(name, growth, cost);
          }
        });
    engines.keySet().retainAll(costs.keySet());
    double lagMillis = streams(pass);
    firstBytes = firstBytes.plus(pass.times(Metric.FIRST_BYTE_SECONDS));
    interTokens = interTokens.plus(pass.times(Metric.INTER_TOKEN_SECONDS));
    last = pass.seen;
    lastTimes = pass.seenTimes;
    return new Reading(
        sources.nanoClock().getAsLong(),
        requests,
        refusals,
        picks,
        uncached,
        tokens,
        firstBytes,
        interTokens,
        new Reading.Events(lagMillis, gaps, replays),
        new Reading.Load(inFlight, sources.dispatcher().queued()),
        engines);
  }

  /** The cached tokens are taken to be spread evenly over the requests. */
  private void add(String engine, Growth growth, PrefillCost cost) {
    double prompt = 0;
    double cached = 0;
    for (double[] pair : growth.models.values()) {
      if (pair[1] >= 0) { // else it does not say how much was cached
        prompt += pair[0];
        cached += pair[1];
      }
    }
    int each = growth.completed > 0 ? (int) Math.round(cached / growth.completed) : 0;
    double millis = growth.completed * cost.millis(each, each);
    tokens =
        new Reading.Tokens(
            tokens.prompt() + prompt, tokens.cached() + cached, tokens.prefillMillis() + millis);
    engines.merge(
        engine, new HitRateCounts(prompt, cached, growth.hit, growth.missed), HitRateCounts::plus);
  }

  /** Counts the streams' gaps and replays; returns the longest lag. */
  private double streams(Pass pass) {
    double lag = Double.NaN;
    for (EngineStatus stream : sources.streams().get()) {
      double millis = stream.lagSeconds() * 1e3;
      lag = Double.isNaN(lag) ? millis : Math.max(lag, millis);
      gaps += pass.growth(stream, StreamCounter.GAPS);
      replays += pass.growth(stream, StreamCounter.REPLAYS);
    }
    return lag;
  }

  private static void add(Map<String, Double> to, @Nullable String name, double growth) {
    if (growth > 0) {
      boolean isKnown = to.containsKey(name) || to.size() < MOST_NAMES;
      to.merge(isKnown ? String.valueOf(name) : OTHERS, growth, Double::sum);
    }
  }

  /** By how much an engine's counters grew. */
  private static final class Growth {

    /** By model: prompt tokens and cached ones, these −1 if the engine does not say. */
    private final Map<String, double[]> models = new HashMap<>();

    private double hit;
    private double missed;
    private double completed;

    double[] of(@Nullable String model) {
      return models.computeIfAbsent(String.valueOf(model), name -> new double[] {0, -1});
    }
  }

  /** One walk over all counters. */
  private final class Pass {

    private final Map<Object, Double> seen = new HashMap<>();
    private final Map<Object, Latencies> seenTimes = new HashMap<>();

    void requests() {
      for (Counter counter : counters(Metric.REQUESTS_TOTAL)) {
        requests += growth(counter);
      }
      for (Counter counter : counters(Metric.REJECTED_TOTAL)) {
        add(refusals, counter.getId().getTag("code"), growth(counter));
      }
      for (Counter counter : counters(Metric.ASSIGNMENTS_TOTAL)) {
        add(picks, counter.getId().getTag("reason"), growth(counter));
      }
      for (Counter counter : counters(Metric.UNCACHED_TOKENS_TOTAL)) {
        add(uncached, counter.getId().getTag("cause"), growth(counter));
      }
    }

    Map<String, Growth> engines() {
      Map<String, Growth> engines = new HashMap<>();
      for (Counter counter : counters(Metric.PROMPT_TOKENS_TOTAL)) {
        model(engines, counter)[0] += growth(counter);
      }
      for (Counter counter : counters(Metric.CACHED_TOKENS_TOTAL)) {
        double[] pair = model(engines, counter);
        pair[1] = Math.max(0, pair[1]) + growth(counter);
      }
      for (Counter counter : counters(Metric.PREDICTED_TOKENS_TOTAL)) {
        boolean isHit = "hit".equals(counter.getId().getTag("result"));
        engine(engines, counter).hit += isHit ? growth(counter) : 0;
        engine(engines, counter).missed += isHit ? 0 : growth(counter);
      }
      for (Counter counter : counters(Metric.OUTCOMES_TOTAL)) {
        if ("completed".equals(counter.getId().getTag("outcome"))) {
          engine(engines, counter).completed += growth(counter);
        }
      }
      return engines;
    }

    private static double[] model(Map<String, Growth> engines, Counter counter) {
      return engine(engines, counter).of(counter.getId().getTag("model"));
    }

    private static Growth engine(Map<String, Growth> engines, Counter counter) {
      String name = String.valueOf(counter.getId().getTag("engine"));
      return engines.computeIfAbsent(name, engine -> new Growth());
    }

    private Iterable<Counter> counters(Metric metric) {
      return metric.in(sources.metrics()).counters();
    }

    /** The times that came since the last walk. */
    Latencies times(Metric metric) {
      Latencies all = Latencies.NONE;
      for (Timer timer : metric.in(sources.metrics()).timers()) {
        Latencies now = Latencies.of(timer);
        seenTimes.put(timer.getId(), now);
        all = all.plus(now.since(lastTimes.getOrDefault(timer.getId(), Latencies.NONE)));
      }
      return all;
    }

    private double growth(Counter counter) {
      return growth(counter.getId(), counter.count());
    }

    private double growth(EngineStatus stream, StreamCounter counter) {
      double value = stream.counters().getOrDefault(counter.label(), 0L).doubleValue();
      return growth(List.of(counter, stream.id()), value);
    }

    private double growth(Object counter, double value) {
      seen.put(counter, value);
      double before = last.getOrDefault(counter, 0.0);
      return value < before ? value : value - before;
    }
  }

  /**
   * Tokens of an engine's prompts that were counted.
   *
   * <p>Immutable.
   *
   * @param prompt all of them, if the engine reports cached ones
   * @param cached as the engine reports them
   * @param hit predicted and cached
   * @param missed predicted or cached, and not both
   */
  record HitRateCounts(double prompt, double cached, double hit, double missed) {

    static final HitRateCounts NONE = new HitRateCounts(0, 0, 0, 0);

    HitRateCounts plus(HitRateCounts more) {
      return new HitRateCounts(
          prompt + more.prompt, cached + more.cached, hit + more.hit, missed + more.missed);
    }

    /** The rates of what came since {@code before}. */
    HitRates since(HitRateCounts before) {
      double predicted = hit - before.hit + missed - before.missed;
      return new HitRates(
          share(cached - before.cached, prompt - before.prompt),
          share(missed - before.missed, predicted));
    }

    private static double share(double part, double whole) {
      return whole > 0 ? part / whole : Double.NaN;
    }
  }

  /**
   * How well an engine's cache and its predictions did in the last minutes; NaN if that is not
   * known.
   *
   * <p>Immutable.
   *
   * @param hitRate cached tokens of its prompts' tokens, as the engine reports them
   * @param predictionError tokens that were predicted or cached and not both, of those that were
   *     either
   */
  record HitRates(double hitRate, double predictionError) {

    /** Nothing is known. */
    static final HitRates UNKNOWN = new HitRates(Double.NaN, Double.NaN);
  }
}
