package dev.warmpath.lab.fleet;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.statistics.Estimate;
import java.util.List;

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
