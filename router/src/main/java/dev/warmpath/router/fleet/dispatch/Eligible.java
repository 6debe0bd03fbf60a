package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.dispatch.DispatchResult.Cause;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The replicas that may get a request, and why the others may not.
 *
 * <p>Immutable.
 *
 * @param passedOver the others, by name
 */
record Eligible(List<Replica> replicas, Map<String, Cause> passedOver) {

  static Eligible of(List<Replica> fleet, DispatchRequest request) {
    List<Replica> eligible = new ArrayList<>(fleet.size());
    Map<String, Cause> passedOver = new LinkedHashMap<>();
    for (Replica replica : fleet) {
      Cause obstacle = obstacle(replica, request);
      if (obstacle == null) {
        eligible.add(replica);
      } else {
        passedOver.put(replica.name(), obstacle);
      }
    }
    return new Eligible(eligible, passedOver);
  }

  private static @Nullable Cause obstacle(Replica replica, DispatchRequest request) {
    if (!replica.serves(request.model())) {
      return Cause.UNKNOWN_MODEL;
    }
    if (replica.draining()) {
      return Cause.DRAINING;
    }
    if (replica.health() == Replica.Health.DOWN) {
      return Cause.DOWN;
    }
    return request.excluded().contains(replica.name()) ? Cause.EXCLUDED : null;
  }

  /** The same without the replicas that are full. */
  Eligible without(Predicate<Replica> full) {
    Map<String, Cause> more = new LinkedHashMap<>(passedOver);
    replicas.stream().filter(full).forEach(replica -> more.put(replica.name(), Cause.FULL));
    return new Eligible(replicas.stream().filter(full.negate()).toList(), more);
  }

  /** Why there is none, if there is none: what keeps back the replica that came nearest. */
  Cause nearest() {
    Cause nearest = Cause.NO_REPLICA;
    for (Cause cause : passedOver.values()) {
      nearest = cause.compareTo(nearest) > 0 ? cause : nearest;
    }
    return nearest;
  }
}
