package dev.warmpath.router.fleet;

import dev.warmpath.router.metrics.Metrics;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The engines of a fleet as it was at one moment, with what is remembered of each.
 *
 * <p>Thread-safe.
 *
 * @param replicas the fleet's list, by its identity
 * @param engines of each replica the engines, by rank
 * @param byName all of them
 * @param byNumber the same
 * @param nextNumber the number of the next engine that comes
 */
public record EngineTable(
    List<Replica> replicas,
    List<List<EngineState>> engines,
    Map<String, EngineState> byName,
    Map<Integer, EngineState> byNumber,
    int nextNumber) {

  public static final EngineTable EMPTY =
      new EngineTable(List.of(), List.of(), Map.of(), Map.of(), 0);

  /** Whether it is of that very list. */
  @SuppressWarnings("ReferenceEquality")
  public boolean isOf(List<Replica> fleet) {
    return replicas == fleet;
  }

  /**
   * The table of another list of replicas. Those that stay keep their state; what was counted of
   * those that leave is dropped first, as others may come under their names.
   */
  public EngineTable of(List<Replica> now, ExpectedBlocks.Limits limits, Metrics metrics) {
    for (int i = 0; i < replicas.size(); i++) {
      if (!now.contains(replicas.get(i))) {
        engines.get(i).forEach(engine -> engine.meters().forget());
      }
    }
    List<List<EngineState>> states = new ArrayList<>(now.size());
    int number = nextNumber;
    for (Replica replica : now) {
      int known = replicas.indexOf(replica);
      if (known >= 0) {
        states.add(engines.get(known));
      } else {
        states.add(newStates(replica, number, limits, metrics));
        number += replica.ranks();
      }
    }
    Map<String, EngineState> byName = new LinkedHashMap<>();
    Map<Integer, EngineState> byNumber = new HashMap<>();
    for (List<EngineState> ranks : states) {
      for (EngineState engine : ranks) {
        byName.put(engine.name(), engine);
        byNumber.put(engine.number(), engine);
      }
    }
    return new EngineTable(
        now,
        List.copyOf(states),
        Collections.unmodifiableMap(byName),
        Collections.unmodifiableMap(byNumber),
        number);
  }

  private static List<EngineState> newStates(
      Replica replica, int firstNumber, ExpectedBlocks.Limits limits, Metrics metrics) {
    return IntStream.range(0, replica.ranks())
        .mapToObj(rank -> new EngineState(replica, rank, firstNumber + rank, limits, metrics))
        .toList();
  }
}
