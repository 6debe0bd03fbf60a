package dev.warmpath.simulator.bench.fleet.report;

import dev.warmpath.simulator.load.LoadReport;
import java.util.function.ToDoubleFunction;

/**
 * A figure that is averaged over seeds and compared between routers.
 *
 * <p>Immutable.
 */
enum Figure {
  HIT_RATE("hitRate", LoadReport::hitRate),
  TTFT_MEAN("ttftMeanMs", load -> load.firstTokenMillis().mean()),
  TTFT_P50("ttftP50Ms", load -> load.firstTokenMillis().p50()),
  TTFT_P90("ttftP90Ms", load -> load.firstTokenMillis().p90()),
  TTFT_P99("ttftP99Ms", load -> load.firstTokenMillis().p99()),
  TPOT("tpotMs", LoadReport::tokenMillis);

  private final String json;
  private final ToDoubleFunction<LoadReport> of;

  Figure(String json, ToDoubleFunction<LoadReport> of) {
    this.json = json;
    this.of = of;
  }

  /** Its name in JSON. */
  String json() {
    return json;
  }

  double of(FleetCell cell) {
    return of.applyAsDouble(cell.report().load());
  }
}
