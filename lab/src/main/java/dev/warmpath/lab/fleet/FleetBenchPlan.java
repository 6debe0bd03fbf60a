package dev.warmpath.lab.fleet;

import dev.warmpath.simulator.demo.SessionLoad;
import java.util.List;
import java.util.Set;

/**
 * Fleet and load of each turn.
 *
 * @param engines simulated engines, each a process
 * @param blocks of the KV cache of each
 * @param blockSizeTokens tokens a block
 * @param speed how many times faster the engines are than their time model
 * @param sessionsPerSecond chat sessions that arrive a second
 * @param seconds in which they arrive
 * @param thinkSeconds mean time from an answer to the next turn
 * @param settleSeconds from a router's first answer to the load
 * @param warmUpSeconds in which other sessions arrive before, so often, which are not measured; 0:
 *     none do
 * @param seeds one round of turns for each
 */
record FleetBenchPlan(
    int engines,
    int blocks,
    int blockSizeTokens,
    double speed,
    double sessionsPerSecond,
    double seconds,
    double thinkSeconds,
    double settleSeconds,
    double warmUpSeconds,
    List<Long> seeds) {

  static final String MODEL = "warmpath-demo";
  static final int MOST_ENGINES = 100;

  private static final int MOST_SEEDS = 100;
  private static final int MOST_WARM_UP_SECONDS = 3_600;

  FleetBenchPlan {
    seeds = List.copyOf(seeds);
    if (engines < 1 || engines > MOST_ENGINES) {
      throw new IllegalArgumentException(
          "engines=%d, not 1 to %d".formatted(engines, MOST_ENGINES));
    }
    if (seeds.isEmpty() || Set.copyOf(seeds).size() < seeds.size() || seeds.size() > MOST_SEEDS) {
      throw new IllegalArgumentException(
          "seeds=%s, not 1 to %d different ones".formatted(seeds, MOST_SEEDS));
    }
    if (!(warmUpSeconds >= 0 && warmUpSeconds <= MOST_WARM_UP_SECONDS)) {
      throw new IllegalArgumentException(
          "warm-up=%s s, not 0 to %d".formatted(warmUpSeconds, MOST_WARM_UP_SECONDS));
    }
    var unused = new SessionLoad(MODEL, sessionsPerSecond, seconds, thinkSeconds, seeds.get(0));
  }

  SessionLoad load(long seed) {
    return new SessionLoad(MODEL, sessionsPerSecond, seconds, thinkSeconds, seed);
  }

  /** With texts of its own, which no measured session shares. */
  SessionLoad warmUp(long seed) {
    return new SessionLoad(MODEL, sessionsPerSecond, warmUpSeconds, thinkSeconds, ~seed);
  }
}
