package dev.warmpath.lab.chaos;

import dev.warmpath.lab.chaos.ChaosClient.ClientBehaviour;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngineOptions;
import java.util.Random;

/**
 * The sizes of a chaos run.
 *
 * @param seconds of load; the end of the run takes up to a minute more
 * @param seed the same seed gives the same questions, faults and clients at the same times
 */
record ChaosPlan(int seconds, long seed) {

  static final String MODEL = "warmpath-chaos";
  static final int ENGINES = 3;
  static final Questions.Lengths LENGTHS = new Questions.Lengths(24, 300);

  private static final int RUNNING = 4;
  private static final double STEP_MILLIS = 15;
  private static final double OVERLOAD = 3;
  private static final int SERVED_MILLIS = 1_500;
  private static final int BURST_MILLIS = 2_500;
  private static final int PERCENT_OF_BAD_CLIENTS = 25;

  /** The parts of a run. */
  enum Phase {
    /** As calm; compiles the code and is not measured. */
    WARM_UP(0.1),
    /** Half of the capacity, no faults. */
    CALM(0.3),
    /** Three times the capacity, no faults. */
    OVERLOAD(0.5),
    /** Faults, bad clients, and calm and overload in turns. */
    CHAOS(1);

    private final double to; // share of the run

    Phase(double to) {
      this.to = to;
    }
  }

  ChaosPlan {
    if (seconds < 5 || seconds > 86_400) {
      throw new IllegalArgumentException("a run takes from 5 seconds to a day");
    }
  }

  /** Requests a second that the engines can serve when each step is as short as it can be. */
  double capacityPerSecond() {
    return ENGINES * RUNNING / (LENGTHS.shortTokens() * STEP_MILLIS / 1_000);
  }

  LiveEngineOptions engine() {
    KvCacheConfig cache = KvCacheConfig.fullAttention(16, 600);
    EngineConfig config =
        new EngineConfig(cache, 2_048, RUNNING, 4_096, new StepCost(STEP_MILLIS, 0.02, 0, 0));
    return LiveEngineOptions.of(MODEL, config);
  }

  /** The phase at a time of the run. */
  Phase phase(long millis) {
    for (Phase phase : Phase.values()) {
      if (millis < end(phase)) {
        return phase;
      }
    }
    return Phase.CHAOS;
  }

  /** When faults begin: the requests of the phase before are served by then. */
  long firstFault() {
    return end(Phase.OVERLOAD) + SERVED_MILLIS;
  }

  long end(Phase phase) {
    return (long) (seconds * 1_000L * phase.to);
  }

  /** Requests a second that arrive at a time of the run. */
  double arrivalsPerSecond(long millis) {
    Phase phase = phase(millis);
    boolean burst = phase == Phase.CHAOS && (millis / BURST_MILLIS) % 2 == 0;
    return capacityPerSecond() * (burst || phase == Phase.OVERLOAD ? OVERLOAD : 0.5);
  }

  ClientBehaviour behaviour(Phase phase, Random random) {
    if (phase != Phase.CHAOS || random.nextInt(100) >= PERCENT_OF_BAD_CLIENTS) {
      return ClientBehaviour.PATIENT;
    }
    ClientBehaviour[] all = ClientBehaviour.values();
    return all[1 + random.nextInt(all.length - 1)];
  }
}
