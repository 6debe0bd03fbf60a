package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.engine.EngineState;
import dev.warmpath.router.fleet.engine.ExpectedBlocks;
import java.util.List;

/**
 * The engines of a fleet as it was at one moment, with what is remembered of each.
 *
 * <p>Thread-safe.
 *
 * @param replicas the fleet's list, by its identity
 * @param engines of each replica the engines, by rank
 */
record EngineTable(List<Replica> replicas, List<List<EngineState>> engines) {

  static final EngineTable EMPTY = new EngineTable(List.of(), List.of());

  /** Whether it is of that very list. */
  @SuppressWarnings("ReferenceEquality")
  boolean isOf(List<Replica> fleet) {
    return replicas == fleet;
  }

  /** The table of another list of replicas; those that stay keep their state. */
  EngineTable of(List<Replica> now, ExpectedBlocks.Limits limits) {
    return new EngineTable(now, now.stream().map(replica -> states(replica, limits)).toList());
  }

  private List<EngineState> states(Replica replica, ExpectedBlocks.Limits limits) {
    int known = replicas.indexOf(replica);
    return known >= 0
        ? engines.get(known)
        : java.util.stream.IntStream.range(0, replica.ranks())
            .mapToObj(rank -> new EngineState(replica, rank, limits))
            .toList();
  }
}
