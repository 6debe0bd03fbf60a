package dev.warmpath.lab.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.simulator.study.Spread;
import java.io.PrintWriter;
import java.util.Map;

/**
 * A router under full load from its first ready moment on.
 *
 * @param cpuSecondsToReady CPU time that its process took until then
 * @param answeredShare of all requests, those answered within a second after the last was due
 * @param answered requests that were answered at some time
 * @param dueToLastByte nanoseconds, of these
 * @param failures requests that were not, by reason
 */
record ColdStart(
    double cpuSecondsToReady,
    double answeredShare,
    int answered,
    Percentiles dueToLastByte,
    double cpuMicrosPerRequest,
    Map<String, Integer> failures) {

  ColdStart {
    failures = Map.copyOf(failures);
  }

  void put(ObjectNode to) {
    to.put("answeredShare", Math.round(answeredShare * 1e4) / 1e4);
    Spread.put(to, "p50Millis", millis(dueToLastByte.p50()));
    Spread.put(to, "p99Millis", millis(dueToLastByte.p99()));
    Spread.put(to, "cpuMicrosPerRequest", answered == 0 ? Double.NaN : cpuMicrosPerRequest);
    to.put("cpuSecondsToReady", Math.round(cpuSecondsToReady * 100) / 100.0);
    to.put("errors", failures.values().stream().mapToInt(Integer::intValue).sum());
  }

  void print(PrintWriter to) {
    to.printf(
        "cold: ready after %.2f s CPU; %.1f %% of the requests answered in time, p50 %.1f ms, p99 %.1f ms, %.0f us CPU each%n",
        cpuSecondsToReady,
        100 * answeredShare,
        millis(dueToLastByte.p50()),
        millis(dueToLastByte.p99()),
        cpuMicrosPerRequest);
    if (!failures.isEmpty()) {
      to.printf("  errors: %s%n", failures);
    }
  }

  private double millis(long nanos) {
    return answered == 0 ? Double.NaN : nanos / 1e6;
  }
}
