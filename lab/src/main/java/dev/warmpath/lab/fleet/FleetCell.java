package dev.warmpath.lab.fleet;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.demo.LoadReport;
import dev.warmpath.simulator.demo.SessionReport;
import dev.warmpath.simulator.study.Distribution;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.TreeMap;

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
