package dev.warmpath.router.console.history;

import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.router.fleet.dispatch.Dispatcher;
import dev.warmpath.router.fleet.engine.EngineReport;
import dev.warmpath.router.observe.Buckets;
import dev.warmpath.router.observe.CounterReader;
import dev.warmpath.router.observe.Metric;
import dev.warmpath.router.observe.RouterMetrics;
import dev.warmpath.router.routing.PrefillCost;
import java.util.ArrayList;
import java.util.Arrays;
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
      RouterMetrics metrics,
      Dispatcher dispatcher,
      Supplier<List<EngineStatus>> streams,
      LongSupplier nanoClock) {}

  /** Names beyond so many are counted as one. */
  private static final int MOST_NAMES = 64;

  private static final String OTHERS = "other";

  private final Sources sources;
  private Map<Object, Double> last = new HashMap<>();
  private Map<Object, long[]> lastBuckets = new HashMap<>();
  private double requests;
  private final Map<String, Double> refusals = new HashMap<>();
  private final Map<String, Double> picks = new HashMap<>();
  private final Map<String, EngineTokens> engines = new HashMap<>();
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
    sources.metrics().read(pass);
    Map<String, PrefillCost> costs = new HashMap<>();
    int inFlight = 0;
    for (EngineReport engine : sources.dispatcher().report()) {
      costs.put(engine.engine(), engine.state().prefillCost());
      inFlight += engine.state().load().requestsInFlight();
    }
    pass.engines.forEach((name, growth) -> {
      PrefillCost cost = costs.get(name);
      if (cost != null) {
        add(name, growth, cost);
      }
    });
    engines.keySet().retainAll(costs.keySet());
    double lagMillis = streams(pass);
    last = pass.seen;
    Map<Object, long[]> seen = new HashMap<>();
    firstBytes = grown(firstBytes, Metric.FIRST_BYTE_SECONDS, seen);
    interTokens = grown(interTokens, Metric.INTER_TOKEN_SECONDS, seen);
    lastBuckets = seen;
    return new Reading(
        sources.nanoClock().getAsLong(),
        requests,
        refusals,
        picks,
        tokens,
        firstBytes,
        interTokens,
        new Reading.Events(lagMillis, gaps, replays),
        new Reading.Load(inFlight, sources.dispatcher().queued()),
        engines);
  }

  private Latencies grown(Latencies before, Metric metric, Map<Object, long[]> seen) {
    List<Buckets> histograms = sources.metrics().buckets(metric);
    List<long[]> growth = new ArrayList<>();
    for (Buckets histogram : histograms) {
      long[] now = new long[histogram.buckets()];
      Arrays.setAll(now, histogram::count);
      Object name = Arrays.asList(metric, histogram.label());
      long[] known = lastBuckets.get(name);
      boolean goesOn = known != null && Arrays.stream(known).sum() <= Arrays.stream(now).sum();
      seen.put(name, now);
      long[] more = now.clone();
      if (known != null && goesOn) {
        Arrays.setAll(more, i -> Math.max(0, now[i] - known[i]));
      }
      growth.add(more);
    }
    return before.plus(histograms, growth);
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
        engine, new EngineTokens(prompt, cached, growth.hit, growth.missed), EngineTokens::plus);
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
  private final class Pass implements CounterReader {

    private final Map<Object, Double> seen = new HashMap<>();
    private final Map<String, Growth> engines = new HashMap<>();

    @Override
    public void counter(
        Metric metric,
        @Nullable String first,
        @Nullable String second,
        @Nullable String third,
        double value) {
      switch (metric) {
        case REQUESTS_TOTAL, REJECTED_TOTAL, ASSIGNMENTS_TOTAL -> {
          double growth = growth(Arrays.asList(metric, first, second, third), value);
          requests += metric == Metric.REQUESTS_TOTAL ? growth : 0;
          add(refusals, first, metric == Metric.REJECTED_TOTAL ? growth : 0);
          add(picks, third, metric == Metric.ASSIGNMENTS_TOTAL ? growth : 0);
        }
        case PROMPT_TOKENS_TOTAL, CACHED_TOKENS_TOTAL -> {
          double[] pair = engine(second).of(first);
          double growth = growth(Arrays.asList(metric, first, second), value);
          int place = metric == Metric.PROMPT_TOKENS_TOTAL ? 0 : 1;
          pair[place] = Math.max(0, pair[place]) + growth;
        }
        case PREDICTED_TOKENS_TOTAL -> {
          double growth = growth(Arrays.asList(metric, first, second), value);
          boolean isHit = "hit".equals(second);
          engine(first).hit += isHit ? growth : 0;
          engine(first).missed += isHit ? 0 : growth;
        }
        case OUTCOMES_TOTAL -> {
          if ("completed".equals(second)) {
            engine(first).completed += growth(Arrays.asList(metric, first, second), value);
          }
        }
        default -> {}
      }
    }

    private Growth engine(@Nullable String name) {
      return engines.computeIfAbsent(String.valueOf(name), engine -> new Growth());
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
}
