package dev.warmpath.lab.gateway;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.Percentiles;
import java.io.PrintWriter;
import java.util.Map;

/**
 * What became of streams while routers were restarted. Times are nanoseconds.
 *
 * @param restarts that began under the load
 * @param answered whole streams
 * @param failures other requests, by reason
 * @param dueToSent from the instant at which a request was due
 * @param busyShare of the machine's processors
 */
record RestartReport(
    int restarts,
    int answered,
    Map<String, Integer> failures,
    Percentiles dueToSent,
    Percentiles dueToFirstByte,
    Percentiles dueToLastByte,
    double busyShare) {

  RestartReport {
    failures = Map.copyOf(failures);
  }

  /** Whether there were restarts, and every stream was whole. */
  boolean isFlawless() {
    return restarts > 0 && failures.isEmpty();
  }

  private int failed() {
    return failures.values().stream().mapToInt(Integer::intValue).sum();
  }

  ObjectNode json() {
    ObjectNode root = new ObjectMapper().createObjectNode();
    root.put("restarts", restarts).put("n", answered).put("errors", failed());
    ObjectNode reasons = root.putObject("errorReasons");
    failures.forEach(reasons::put);
    put(root.putObject("dueToSentMicros"), dueToSent);
    put(root.putObject("dueToFirstByteMicros"), dueToFirstByte);
    put(root.putObject("dueToLastByteMicros"), dueToLastByte);
    root.put("busyShare", Math.round(busyShare * 1e3) / 1e3);
    return root;
  }

  private static void put(ObjectNode to, Percentiles nanos) {
    to.put("p50", nanos.p50() / 1_000);
    to.put("p99", nanos.p99() / 1_000);
    to.put("p999", nanos.p999() / 1_000);
  }

  void print(PrintWriter to) {
    to.printf(
        "%d restarts: %,d streams whole, %d lost %s%n", restarts, answered, failed(), failures);
    to.printf(
        "us p50 / p99 / p99.9: due to sent %s, to first byte %s, to last byte %s; %.0f %% of the processors busy%n",
        dueToSent.micros(), dueToFirstByte.micros(), dueToLastByte.micros(), 100 * busyShare);
  }
}
