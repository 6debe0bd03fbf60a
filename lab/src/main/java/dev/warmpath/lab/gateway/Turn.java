package dev.warmpath.lab.gateway;

import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.bench.ProcFiles.Footprint;
import java.util.Map;

/**
 * What one gateway did in one cell of one round. Times are nanoseconds.
 *
 * @param round from 0
 * @param answered requests of the measured part that were answered in whole
 * @param failures the others, by reason
 * @param cpuMicrosPerRequest of the gateway's processes; NaN where there is none
 * @param dueToSent how late the load itself was
 * @param footprint of the gateway's processes at the end of the measured part
 * @param busyShare of the machine's processors, whatever they did
 */
record Turn(
    int round,
    String cell,
    String gateway,
    int answered,
    Map<String, Integer> failures,
    double cpuMicrosPerRequest,
    Percentiles sentToFirstByte,
    Percentiles dueToFirstByte,
    Percentiles dueToLastByte,
    Percentiles dueToSent,
    Footprint footprint,
    double busyShare) {

  Turn {
    failures = Map.copyOf(failures);
  }

  int errors() {
    return failures.values().stream().mapToInt(Integer::intValue).sum();
  }
}
