package dev.warmpath.lab.gateway;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.gateway.TurnRunner.ColdStart;
import dev.warmpath.lab.gateway.TurnRunner.Turn;
import dev.warmpath.simulator.study.Spread;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * All that was measured.
 *
 * @param turns in any order
 * @param states null if they were left out
 * @param cold null if it was left out
 * @param idleMillis CPU milliseconds a second of an idle router; NaN if it was left out
 * @param fallbacks requests of the turns that our router routed without knowing their prompts
 * @param secondsToReady from the start of the router's process; NaN if none was started
 */
record GatewayReport(
    List<Turn> turns,
    long fallbacks,
    @Nullable GatewayStates states,
    @Nullable ColdStart cold,
    double idleMillis,
    double secondsToReady) {

  /** The name of the turns without a gateway. */
  static final String DIRECT = "direct";

  /** The name of our router. */
  static final String OURS = "warmpath";

  private static final String LINE = "%-15s %-14s %8s %17s %8s %8s %8s %9s %9s %7s %8s %8s %5s%n";

  GatewayReport {
    turns = List.copyOf(turns);
  }

  /** Whether our router answered all requests of the cells as it should. */
  boolean isFlawless() {
    return turns.stream().noneMatch(turn -> turn.gateway().equals(OURS) && turn.errors() > 0);
  }

  void print(PrintWriter to) {
    if (!turns.isEmpty()) {
      to.printf(
          LINE,
          "cell",
          "gateway",
          "cpu us",
          "(min-max)",
          "first p50",
          "p99",
          "added p50",
          "due p50",
          "p99",
          "n",
          "RSS MiB",
          "threads",
          "busy");
    }
    cells().forEach(figures -> print(to, figures));
    if (fallbacks > 0) {
      to.printf("%d requests were routed without their prompts%n", fallbacks);
    }
    if (!Double.isNaN(secondsToReady)) {
      to.printf("ready after %.2f s%n", secondsToReady);
    }
    if (states != null) {
      states.print(to);
    }
    if (cold != null) {
      cold.print(to);
    }
    if (!Double.isNaN(idleMillis)) {
      to.printf("idle: %.1f ms CPU a second%n", idleMillis);
    }
    to.flush();
  }

  ObjectNode json() {
    ObjectNode root = new ObjectMapper().createObjectNode();
    ArrayNode list = root.putArray("cells");
    cells().forEach(figures -> figures.put(list.addObject()));
    root.put("fallbacks", fallbacks);
    if (states != null) {
      states.put(root.putObject("states"));
    }
    if (cold != null) {
      cold.put(root.putObject("cold"));
    }
    put(root, "idleCpuMillisPerSecond", idleMillis, 10);
    put(root, "secondsToReady", secondsToReady, 100);
    return root;
  }

  private static void put(ObjectNode to, String name, double value, int parts) {
    if (!Double.isNaN(value)) {
      to.put(name, (double) Math.round(value * parts) / parts);
    }
  }

  private static void print(PrintWriter to, GatewayFigures figures) {
    to.printf(
        LINE,
        figures.cell(),
        figures.gateway(),
        figures.hasCpu() ? "%.0f".formatted(figures.cpuMicros().median()) : "",
        figures.hasCpu()
            ? "(%.0f-%.0f)".formatted(figures.cpuMicros().min(), figures.cpuMicros().max())
            : "",
        "%.0f".formatted(figures.micros(Turn::sentToFirstByte, Percentiles::p50)),
        "%.0f".formatted(figures.micros(Turn::sentToFirstByte, Percentiles::p99)),
        "%.0f".formatted(figures.addedMicros(Percentiles::p50)),
        "%.0f".formatted(figures.micros(Turn::dueToLastByte, Percentiles::p50)),
        "%.0f".formatted(figures.micros(Turn::dueToLastByte, Percentiles::p99)),
        figures.answered(),
        figures.hasCpu() ? "%.0f".formatted(figures.residentMib()) : "",
        figures.hasCpu() ? "%d".formatted(figures.threads()) : "",
        "%.2f".formatted(figures.busyShare()));
    if (figures.errors() > 0) {
      to.printf("  %d errors: %s%n", figures.errors(), figures.failures());
    }
  }

  /** In the order of the first round. */
  private List<GatewayFigures> cells() {
    Map<String, Map<String, List<Turn>>> cells = new LinkedHashMap<>();
    for (Turn turn : turns) {
      cells
          .computeIfAbsent(turn.cell(), cell -> new LinkedHashMap<>())
          .computeIfAbsent(turn.gateway(), gateway -> new ArrayList<>())
          .add(turn);
    }
    List<GatewayFigures> figures = new ArrayList<>();
    for (Map<String, List<Turn>> gateways : cells.values()) {
      Map<Integer, Turn> direct = new HashMap<>();
      gateways.getOrDefault(DIRECT, List.of()).forEach(turn -> direct.put(turn.round(), turn));
      gateways.values().forEach(turns -> figures.add(new GatewayFigures(turns, direct)));
    }
    return figures;
  }

  /**
   * One gateway in one cell: medians over the rounds.
   *
   * @param turns of the gateway, at least one
   * @param direct of the replicas themselves, one for each round
   */
  record GatewayFigures(List<Turn> turns, Map<Integer, Turn> direct) {

    GatewayFigures {
      turns = List.copyOf(turns);
      direct = Map.copyOf(direct);
      if (turns.isEmpty()) {
        throw new IllegalArgumentException("turns=[]");
      }
    }

    String gateway() {
      return turns.get(0).gateway();
    }

    String cell() {
      return turns.get(0).cell();
    }

    int answered() {
      return turns.stream().mapToInt(Turn::answered).sum();
    }

    int errors() {
      return turns.stream().mapToInt(Turn::errors).sum();
    }

    Map<String, Integer> failures() {
      Map<String, Integer> all = new TreeMap<>();
      turns.forEach(turn ->
          turn.failures().forEach((reason, count) -> all.merge(reason, count, Integer::sum)));
      return all;
    }

    boolean hasCpu() {
      return !Double.isNaN(cpuMicros().median());
    }

    Spread cpuMicros() {
      return spread(Turn::cpuMicrosPerRequest);
    }

    /** Median over the rounds of a percentile, in microseconds. */
    double micros(Function<Turn, Percentiles> of, ToLongFunction<Percentiles> percentile) {
      return spread(turn -> percentile.applyAsLong(of.apply(turn)) / 1e3).median();
    }

    /** Median of what the first byte takes longer than without a gateway in the same round. */
    double addedMicros(ToLongFunction<Percentiles> percentile) {
      return spread(turn -> added(turn, percentile)).median();
    }

    private double added(Turn turn, ToLongFunction<Percentiles> percentile) {
      Turn base = direct.get(turn.round());
      if (base == null) {
        throw new IllegalStateException("round=" + turn.round() + " has no turn without a gateway");
      }
      long with = percentile.applyAsLong(turn.sentToFirstByte());
      long without = percentile.applyAsLong(base.sentToFirstByte());
      return (with - without) / 1e3;
    }

    /** At the end of a turn, the most of all rounds. */
    double residentMib() {
      return turns.stream().mapToDouble(turn -> turn.footprint().residentMib()).max().orElseThrow();
    }

    /** At the end of a turn, the most of all rounds. */
    int threads() {
      return turns.stream().mapToInt(turn -> turn.footprint().threads()).max().orElseThrow();
    }

    double busyShare() {
      return Spread.of(turns.stream().mapToDouble(Turn::busyShare).toArray()).median();
    }

    void put(ObjectNode to) {
      to.put("name", gateway()).put("cell", cell()).put("n", answered()).put("errors", errors());
      if (hasCpu()) {
        cpuMicros().put(to, "cpuMicrosPerRequest");
        to.put("residentMib", Math.round(residentMib())).put("threads", threads());
      } else {
        to.putNull("cpuMicrosPerRequest");
      }
      ObjectNode added = to.putObject("addedFirstByteMicros");
      Spread.put(added, "p50", addedMicros(Percentiles::p50));
      Spread.put(added, "p99", addedMicros(Percentiles::p99));
      put(to, "firstByteMicros", Turn::sentToFirstByte);
      put(to, "dueToFirstByteMicros", Turn::dueToFirstByte);
      put(to, "dueToLastByteMicros", Turn::dueToLastByte);
      put(to, "dueToSentMicros", Turn::dueToSent);
      to.put("busyShare", Math.round(busyShare() * 100) / 100.0);
      ObjectNode reasons = to.putObject("errorReasons");
      failures().forEach(reasons::put);
    }

    private void put(ObjectNode to, String name, Function<Turn, Percentiles> of) {
      ObjectNode micros = to.putObject(name);
      Spread.put(micros, "p50", micros(of, Percentiles::p50));
      Spread.put(micros, "p99", micros(of, Percentiles::p99));
    }

    /** Over the rounds with answers. */
    private Spread spread(ToDoubleFunction<Turn> of) {
      return Spread.of(
          turns.stream().filter(turn -> turn.answered() > 0).mapToDouble(of).toArray());
    }
  }
}
