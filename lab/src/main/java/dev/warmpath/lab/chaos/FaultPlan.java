package dev.warmpath.lab.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The faults of one engine, one after another; those of several engines overlap.
 *
 * @param faults in order of time
 */
record FaultPlan(List<Timed> faults) {

  private static final int SHORTEST_MILLIS = 300;
  private static final int LONGEST_MILLIS = 4_000;

  /** A fault from one time of the run to another. */
  record Timed(EngineFault fault, long fromMillis, long toMillis) {}

  FaultPlan {
    faults = List.copyOf(faults);
  }

  /**
   * Plans for several engines, between two times. Each kind of fault comes before any comes again,
   * on whichever engine, so that short runs see all of them.
   */
  static List<FaultPlan> between(long fromMillis, long toMillis, int engines, Random random) {
    List<FaultPlan> plans = new ArrayList<>();
    List<EngineFault> left = new ArrayList<>();
    for (int i = 0; i < engines; i++) {
      plans.add(between(fromMillis, toMillis, random, left));
    }
    return plans;
  }

  private static FaultPlan between(
      long fromMillis, long toMillis, Random random, List<EngineFault> left) {
    List<Timed> faults = new ArrayList<>();
    int longest = (int) Math.min(LONGEST_MILLIS, 2 * SHORTEST_MILLIS + (toMillis - fromMillis) / 8);
    long at = fromMillis + random.nextInt(longest / 2);
    while (at + SHORTEST_MILLIS < toMillis) {
      if (left.isEmpty()) {
        left.addAll(List.of(EngineFault.values()));
      }
      EngineFault fault = left.remove(random.nextInt(left.size()));
      long end = Math.min(toMillis, at + random.nextInt(SHORTEST_MILLIS, longest));
      faults.add(new Timed(fault, at, end));
      at = end + random.nextInt(longest / 2);
    }
    return new FaultPlan(faults);
  }
}
