package dev.warmpath.lab.fleet;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.study.Estimate;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Set;

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
}
