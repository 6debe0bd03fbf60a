package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.ValueNode;
import dev.warmpath.router.console.Totals.HitRateCounts;
import dev.warmpath.router.console.Totals.HitRates;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The last hour in steps of {@value #STEP_SECONDS} seconds, and the last seconds.
 *
 * <p>Thread-safe.
 */
public final class History {

  /** Length of a step. */
  public static final int STEP_SECONDS = 10;

  /** So many are kept. */
  public static final int STEPS = 360;

  /** Readings that {@link #rates} looks back over: five minutes. */
  private static final int RATE_STEPS = 30;

  private static final long STEP_NANOS = TimeUnit.SECONDS.toNanos(STEP_SECONDS);

  /** Readings in between are at least as far apart, so that their number is bounded. */
  private static final long RECENT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Totals totals;
  private final Clock clock;
  private final Deque<Step> steps = new ArrayDeque<>();
  private final Deque<Reading> readings = new ArrayDeque<>();

  /** Readings between those, while somebody looks; the youngest first. */
  private final Deque<Reading> recent = new ArrayDeque<>();

  private long endMillis;

  /** Begins now. */
  public History(Totals.Sources sources, Clock clock) {
    this.totals = new Totals(sources);
    this.clock = clock;
    readings.add(totals.read());
  }

  /** Another step is over. */
  public synchronized void step() {
    Reading reading = totals.read();
    steps.add(new Step(readings.getLast(), reading));
    readings.add(reading);
    endMillis = clock.millis();
    if (steps.size() > STEPS) {
      steps.remove();
    }
    if (readings.size() > RATE_STEPS + 1) {
      readings.remove();
    }
  }

  /**
   * The step that ends now: as long as the others if there is a reading to begin with, else a
   * little longer, or shorter in a young process.
   */
  public synchronized ObjectNode now() {
    Reading reading = totals.read();
    recent.removeIf(old -> reading.nanos() - old.nanos() > 2 * STEP_NANOS);
    Reading begin = begin(reading);
    if (recent.isEmpty() || reading.nanos() - recent.getFirst().nanos() >= RECENT_NANOS) {
      recent.addFirst(reading);
    }
    return new Step(begin, reading).json().put("at", clock.millis());
  }

  private Reading begin(Reading reading) {
    Reading best = readings.getFirst();
    for (Iterator<Reading> each = readings.descendingIterator(); each.hasNext(); ) {
      best = each.next();
      if (reading.nanos() - best.nanos() >= STEP_NANOS) {
        break;
      }
    }
    for (Reading each : recent) {
      if (reading.nanos() - each.nanos() >= STEP_NANOS && each.nanos() - best.nanos() > 0) {
        return each;
      }
    }
    return best;
  }

  /** How an engine's cache did in the last five minutes. */
  public synchronized HitRates rates(String engine) {
    HitRateCounts now = readings.getLast().engines().get(engine);
    return now == null
        ? HitRates.UNKNOWN
        : now.since(readings.getFirst().engines().getOrDefault(engine, HitRateCounts.NONE));
  }

  /** The last {@code seconds}, as far as they are known. */
  public synchronized ObjectNode json(int seconds) {
    int wanted = Math.min(steps.size(), (seconds + STEP_SECONDS - 1) / STEP_SECONDS);
    List<Step> shown = new ArrayList<>(steps).subList(steps.size() - wanted, steps.size());
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("stepSeconds", STEP_SECONDS);
    root.put("from", endMillis - TimeUnit.SECONDS.toMillis((long) wanted * STEP_SECONDS));
    ObjectNode all = root.putObject("series");
    for (Series series : Series.values()) {
      ArrayNode values = all.putArray(series.label());
      shown.forEach(step -> values.add(Series.shown(step.value(series))));
    }
    rates(all.putObject("refusals"), shown, Step::refusals);
    rates(all.putObject("picks"), shown, Step::picks);
    rates(all.putObject("uncached"), shown, Step::uncached);
    return root;
  }

  private static void rates(
      ObjectNode to, List<Step> steps, Function<Step, Map<String, Double>> rates) {
    Stream<String> names = steps.stream().flatMap(step -> rates.apply(step).keySet().stream());
    for (String name : new TreeSet<>(names.toList())) {
      ArrayNode values = to.putArray(name);
      steps.forEach(step -> values.add(Series.shown(rates.apply(step).getOrDefault(name, 0.0))));
    }
  }

  /**
   * What happened between two readings.
   *
   * <p>Immutable.
   */
  static final class Step {

    private static final double NANOS_PER_SECOND = 1e9;

    private final double[] values = new double[Series.values().length];
    private final Map<String, Double> refusals;
    private final Map<String, Double> picks;
    private final Map<String, Double> uncached;

    Step(Reading before, Reading now) {
      double seconds = Math.max(1, now.nanos() - before.nanos()) / NANOS_PER_SECOND;
      this.refusals = rates(before.refusals(), now.refusals(), seconds);
      this.picks = rates(before.picks(), now.picks(), seconds);
      this.uncached = rates(before.uncached(), now.uncached(), seconds);
      double refused = refusals.values().stream().mapToDouble(rate -> rate).sum();
      set(Series.REQUESTS, (now.requests() - before.requests()) / seconds);
      set(Series.REFUSED, refused);
      tokens(before.tokens(), now.tokens(), seconds);
      Latencies firstBytes = now.firstBytes().since(before.firstBytes());
      set(Series.TTFT_P50, firstBytes.quantileMillis(0.5));
      set(Series.TTFT_P90, firstBytes.quantileMillis(0.9));
      set(Series.TTFT_P99, firstBytes.quantileMillis(0.99));
      Latencies interTokens = now.interTokens().since(before.interTokens());
      set(Series.ITL_P50, interTokens.quantileMillis(0.5));
      set(Series.ITL_P90, interTokens.quantileMillis(0.9));
      set(Series.ITL_P99, interTokens.quantileMillis(0.99));
      set(Series.EVENT_LAG_MILLIS, now.events().lagMillis());
      set(Series.GAPS, (now.events().gaps() - before.events().gaps()) / seconds);
      set(Series.REPLAYS, (now.events().replays() - before.events().replays()) / seconds);
      set(Series.IN_FLIGHT, now.load().inFlight());
      set(Series.QUEUED, now.load().queued());
    }

    private void tokens(Reading.Tokens before, Reading.Tokens now, double seconds) {
      double prompt = now.prompt() - before.prompt();
      double cached = now.cached() - before.cached();
      set(Series.HIT_RATE, prompt > 0 ? cached / prompt : Double.NaN);
      set(Series.TOKENS_SAVED, cached / seconds);
      set(Series.PREFILL_MILLIS_SAVED, (now.prefillMillis() - before.prefillMillis()) / seconds);
    }

    private static Map<String, Double> rates(
        Map<String, Double> before, Map<String, Double> now, double seconds) {
      Map<String, Double> rates = new HashMap<>();
      now.forEach((name, count) -> {
        double growth = count - before.getOrDefault(name, 0.0);
        if (growth > 0) {
          rates.put(name, growth / seconds);
        }
      });
      return Map.copyOf(rates);
    }

    private void set(Series series, double value) {
      values[series.ordinal()] = value;
    }

    double value(Series series) {
      return values[series.ordinal()];
    }

    /** Errors of the router by code, per second; those that did not happen are left out. */
    Map<String, Double> refusals() {
      return refusals;
    }

    /** Choices of engines by reason, per second; those that did not happen are left out. */
    Map<String, Double> picks() {
      return picks;
    }

    /**
     * Prompt tokens computed by why they were not cached, per second; causes without are left out.
     */
    Map<String, Double> uncached() {
      return uncached;
    }

    ObjectNode json() {
      ObjectNode root = JsonNodeFactory.instance.objectNode();
      for (Series series : Series.values()) {
        root.set(series.label(), Series.shown(value(series)));
      }
      rates(root.putObject("refusals"), refusals);
      rates(root.putObject("picks"), picks);
      rates(root.putObject("uncached"), uncached);
      return root;
    }

    private static void rates(ObjectNode to, Map<String, Double> rates) {
      new TreeMap<>(rates).forEach((name, rate) -> to.set(name, Series.shown(rate)));
    }
  }

  /** The numbers of a {@link History.Step}, by their names in answers. */
  enum Series {
    /** Requests that ended, per second. */
    REQUESTS("requests"),
    /** Errors that the router answered itself, per second. */
    REFUSED("refused"),
    /** Cached tokens of prompts' tokens, 0 to 1. */
    HIT_RATE("hitRate"),
    /** Cached tokens per second. */
    TOKENS_SAVED("tokensSaved"),
    /** What these would have cost by the learned speeds, in milliseconds per second. */
    PREFILL_MILLIS_SAVED("prefillMillisSaved"),
    /** Milliseconds from a request's head to the first byte of its response. */
    TTFT_P50("ttftP50"),
    TTFT_P90("ttftP90"),
    TTFT_P99("ttftP99"),
    /** Milliseconds between two parts of a streamed answer. */
    ITL_P50("itlP50"),
    ITL_P90("itlP90"),
    ITL_P99("itlP99"),
    /** The longest lag of an event stream at the end of the step, in milliseconds. */
    EVENT_LAG_MILLIS("eventLagMillis"),
    /** Gaps in event streams, per second. */
    GAPS("gaps"),
    /** Replays of event streams, per second. */
    REPLAYS("replays"),
    /** Requests at engines at the end of the step. */
    IN_FLIGHT("inFlight"),
    /** Requests in the queue at the end of the step. */
    QUEUED("queued");

    private static final double PRECISION = 1e4;

    private final String label;

    Series(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }

    /** A number as answers show it; null for NaN. */
    static ValueNode shown(double value) {
      return Double.isNaN(value)
          ? JsonNodeFactory.instance.nullNode()
          : JsonNodeFactory.instance.numberNode(Math.round(value * PRECISION) / PRECISION);
    }
  }
}
