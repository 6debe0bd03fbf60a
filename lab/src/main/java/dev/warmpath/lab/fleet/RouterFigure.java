package dev.warmpath.lab.fleet;

import dev.warmpath.simulator.demo.LoadReport;

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
