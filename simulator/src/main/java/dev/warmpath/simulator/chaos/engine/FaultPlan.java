package dev.warmpath.simulator.chaos.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The faults of one engine, one after another; those of several engines overlap.
 *
 * <p>Immutable.
 *
 * @param faults in order of time
 */
public record FaultPlan(List<Timed> faults) {

  private static final int SHORTEST_MILLIS = 300;
  private static final int LONGEST_MILLIS = 4_000;
  private static final int MOST_PAUSE_MILLIS = 3_000;

  /** A fault from one time of the run to another. Immutable. */
  public record Timed(EngineFault fault, long fromMillis, long toMillis) {}

  public FaultPlan {
    faults = List.copyOf(faults);
  }

  /** Faults between two times; each kind comes before any comes again. */
  public static FaultPlan between(long fromMillis, long toMillis, Random random) {
    List<Timed> faults = new ArrayList<>();
    List<EngineFault> left = new ArrayList<>();
    long at = fromMillis + random.nextInt(MOST_PAUSE_MILLIS / 3);
    while (at + SHORTEST_MILLIS < toMillis) {
      if (left.isEmpty()) {
        left.addAll(List.of(EngineFault.values()));
      }
      EngineFault fault = left.remove(random.nextInt(left.size()));
      int span = random.nextInt(SHORTEST_MILLIS, LONGEST_MILLIS);
      long end = Math.min(toMillis, at + span);
      faults.add(new Timed(fault, at, end));
      at = end + random.nextInt(MOST_PAUSE_MILLIS);
    }
    return new FaultPlan(faults);
  }
}
