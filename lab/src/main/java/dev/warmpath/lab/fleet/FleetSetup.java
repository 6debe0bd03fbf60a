package dev.warmpath.lab.fleet;

import java.nio.file.Path;
import java.util.List;

/**
 * What is measured where.
 *
 * @param routers the first is what the others are compared to
 * @param enginePort HTTP port of the first engine; the others follow. Events are published {@value
 *     #EVENTS_OFFSET} ports above, replayed {@value #REPLAY_OFFSET} above. 0 for any ports
 * @param directory for the logs
 */
record FleetSetup(List<BenchRouter> routers, int enginePort, Path directory) {

  static final int EVENTS_OFFSET = 100;
  static final int REPLAY_OFFSET = 200;

  private static final int LAST_PORT = 65_535 - REPLAY_OFFSET - FleetBenchPlan.MOST_ENGINES;

  FleetSetup {
    routers = List.copyOf(routers);
    if (routers.isEmpty()
        || routers.stream().map(BenchRouter::name).distinct().count() < routers.size()) {
      throw new IllegalArgumentException("no routers, or two of one name");
    }
    if (enginePort < 0 || enginePort > LAST_PORT) {
      throw new IllegalArgumentException(
          "engine port %d is not 0 to %d".formatted(enginePort, LAST_PORT));
    }
  }

  Path log(String name) {
    return directory.resolve(name + ".log");
  }
}
