package dev.warmpath.lab.fleet;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.demo.LoadReport;
import dev.warmpath.simulator.demo.SessionRun.SessionReport;
import dev.warmpath.simulator.study.Distribution;
import dev.warmpath.simulator.study.Estimate;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;

/**
 * All that was measured.
 *
 * @param routers names, in the order in which they were given; the first is what the others are
 *     compared to
 * @param cells turns that ran to their end
 * @param failures turns that did not
 */
record FleetBenchReport(List<String> routers, List<FleetCell> cells, List<Failure> failures) {

  private static final String LINE = "%-20s %14s %16s %7s %7s %7s %7s %7s %6s %16s%n";

  /** A router that did not come up, or ended. */
  record Failure(String router, long seed, String error) {}

  FleetBenchReport {
    routers = List.copyOf(routers);
    cells = List.copyOf(cells);
    failures = List.copyOf(failures);
  }

  /** Whether every turn ran to its end, and none of these routers failed a request. */
  boolean isFlawless(Set<String> ours) {
    return failures.isEmpty()
        && totals().stream()
            .noneMatch(total -> ours.contains(total.router()) && total.errors() > 0);
  }

  /** Prints the totals. */
  void print(PrintWriter to) {
    to.printf(
        LINE,
        "router",
        "hit rate",
        "TTFT ms",
        "p50",
        "p90",
        "p99",
        "TPOT",
        "n",
        "errors",
        "TTFT to first");
    for (FleetTotal total : totals()) {
      to.printf(
          LINE,
          total.router(),
          plusMinus(total.estimate(RouterFigure.HIT_RATE), 3),
          plusMinus(total.estimate(RouterFigure.TTFT_MEAN), 0),
          "%.0f".formatted(total.estimate(RouterFigure.TTFT_P50).mean()),
          "%.0f".formatted(total.estimate(RouterFigure.TTFT_P90).mean()),
          "%.0f".formatted(total.estimate(RouterFigure.TTFT_P99).mean()),
          "%.1f".formatted(total.estimate(RouterFigure.TPOT).mean()),
          total.requests(),
          total.errors(),
          plusMinus(total.ratio(RouterFigure.TTFT_MEAN), 2));
    }
    failures.forEach(
        failure -> to.printf("seed %d, %s: %s%n", failure.seed, failure.router, failure.error));
    to.flush();
  }

  ObjectNode json() {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    ArrayNode turns = root.putArray("cells");
    cells.forEach(cell -> cell.put(turns.addObject()));
    ArrayNode sums = root.putArray("totals");
    totals().forEach(total -> total.put(sums.addObject()));
    ArrayNode failed = root.putArray("failures");
    failures.forEach(failure ->
        failed
            .addObject()
            .put("router", failure.router)
            .put("seed", failure.seed)
            .put("error", failure.error));
    return root;
  }

  private List<FleetTotal> totals() {
    List<FleetCell> first = cellsOf(routers.get(0));
    return routers.stream().map(name -> new FleetTotal(name, cellsOf(name), first)).toList();
  }

  private List<FleetCell> cellsOf(String router) {
    return cells.stream().filter(cell -> cell.router().equals(router)).toList();
  }

  private static String plusMinus(Estimate estimate, int decimals) {
    String number = "%." + decimals + "f";
    String mean = String.format(Locale.ROOT, number, estimate.mean());
    return Double.isNaN(estimate.confidence())
        ? mean
        : mean + String.format(Locale.ROOT, " ±" + number, estimate.confidence());
  }

  /**
   * One router over all seeds, compared with the first router by seeds that both have.
   *
   * @param cells of the router
   * @param first the cells of the first router
   */
  record FleetTotal(String router, List<FleetCell> cells, List<FleetCell> first) {

    FleetTotal {
      cells = List.copyOf(cells);
      first = List.copyOf(first);
    }

    int requests() {
      return cells.stream().mapToInt(cell -> cell.report().load().requests()).sum();
    }

    int errors() {
      return cells.stream().mapToInt(cell -> cell.report().load().errors()).sum();
    }

    /** Over the seeds. */
    Estimate estimate(RouterFigure figure) {
      return Estimate.of(cells.stream().mapToDouble(figure::of).toArray());
    }

    /** The router's figure over that of the first router with the same seed, over the seeds. */
    Estimate ratio(RouterFigure figure) {
      return Estimate.of(
          cells.stream()
              .flatMapToDouble(cell ->
                  first.stream()
                      .filter(base -> base.seed() == cell.seed())
                      .mapToDouble(base -> figure.of(cell) / figure.of(base)))
              .toArray());
    }

    void put(ObjectNode to) {
      to.put("router", router).put("seeds", cells.size());
      to.put("requests", requests()).put("errors", errors());
      ObjectNode ratios = to.objectNode();
      for (RouterFigure figure : RouterFigure.values()) {
        put(to.putObject(figure.json()), estimate(figure));
        put(ratios.putObject(figure.json()), ratio(figure));
      }
      to.set("ratios", ratios);
    }

    private static void put(ObjectNode to, Estimate estimate) {
      FleetCell.put(to, "mean", estimate.mean());
      FleetCell.put(to, "ci95", estimate.confidence());
    }
  }

  /** A figure that is averaged over seeds and compared between routers. */
  enum RouterFigure {
    HIT_RATE("hitRate"),
    TTFT_MEAN("ttftMeanMs"),
    TTFT_P50("ttftP50Ms"),
    TTFT_P90("ttftP90Ms"),
    TTFT_P99("ttftP99Ms"),
    TPOT("tpotMs");

    private final String json;

    RouterFigure(String json) {
      this.json = json;
    }

    /** Its name in JSON. */
    String json() {
      return json;
    }

    double of(FleetCell cell) {
      LoadReport load = cell.report().load();
      return switch (this) {
        case HIT_RATE -> load.hitRate();
        case TTFT_MEAN -> load.firstTokenMillis().mean();
        case TTFT_P50 -> load.firstTokenMillis().p50();
        case TTFT_P90 -> load.firstTokenMillis().p90();
        case TTFT_P99 -> load.firstTokenMillis().p99();
        case TPOT -> load.tokenMillis();
      };
    }
  }

  /** One turn of one router. */
  record FleetCell(String router, long seed, SessionReport report) {

    private static final MathContext DIGITS = new MathContext(5);
    private static final double LATE_MILLIS = 50;

    /** The turn in one line. */
    String line() {
      LoadReport load = report.load();
      Distribution ttft = load.firstTokenMillis();
      String errors = load.errors() == 0 ? "" : ", errors " + new TreeMap<>(load.failures());
      return String.format(
              Locale.ROOT,
              "seed %d, %s: n %d, hit rate %.3f, TTFT ms mean %.0f p50 %.0f p90 %.0f p99 %.0f, TPOT ms %.1f",
              seed,
              router,
              load.requests(),
              load.hitRate(),
              ttft.mean(),
              ttft.p50(),
              ttft.p90(),
              ttft.p99(),
              load.tokenMillis())
          + errors
          + late();
    }

    /** A load that is late measures the machine, not the router. */
    private String late() {
      double p99 = report.lateMillis().p99();
      return p99 > LATE_MILLIS
          ? String.format(Locale.ROOT, "; THE LOAD WAS LATE, p99 %.0f ms", p99)
          : "";
    }

    void put(ObjectNode to) {
      LoadReport load = report.load();
      to.put("router", router).put("seed", seed);
      to.put("requests", load.requests()).put("errors", load.errors());
      ObjectNode reasons = to.putObject("errorReasons");
      new TreeMap<>(load.failures()).forEach(reasons::put);
      put(to, "hitRate", load.hitRate());
      put(to.putObject("ttftMs"), load.firstTokenMillis());
      put(to, "tpotMs", load.tokenMillis());
      put(to.putObject("lateMs"), report.lateMillis());
    }

    private static void put(ObjectNode to, Distribution millis) {
      put(to, "mean", millis.mean());
      put(to, "p50", millis.p50());
      put(to, "p90", millis.p90());
      put(to, "p99", millis.p99());
    }

    /** Puts a value rounded to five digits, or null where there is none. */
    static void put(ObjectNode to, String name, double value) {
      if (Double.isFinite(value)) {
        to.put(name, new BigDecimal(value).round(DIGITS).doubleValue());
      } else {
        to.putNull(name);
      }
    }
  }
}
