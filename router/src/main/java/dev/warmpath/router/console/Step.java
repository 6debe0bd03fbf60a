package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What happened between two readings.
 *
 * <p>Immutable.
 */
final class Step {

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
