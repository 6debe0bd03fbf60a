package dev.warmpath.router.tokenize.parity;

import dev.warmpath.router.fleet.Replica;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Which engines were probed for which models.
 *
 * <p>Confined to the thread that probes.
 */
final class ProbeBook {

  private static final long DONE = Long.MAX_VALUE;

  private final long retryNanos;

  /** For each replica and model when it is to be probed again, or {@link #DONE}. */
  private final Map<Replica, Map<String, Long>> next = new WeakHashMap<>();

  ProbeBook(long retryNanos) {
    this.retryNanos = retryNanos;
  }

  boolean due(Replica replica, String model, long nowNanos) {
    Long at = next.getOrDefault(replica, Map.of()).get(model);
    return at == null || (at != DONE && nowNanos - at >= 0);
  }

  /** It was probed; without an answer it is tried again later. */
  void done(Replica replica, String model, boolean answered, long nowNanos) {
    next.computeIfAbsent(replica, r -> new HashMap<>())
        .put(model, answered ? DONE : nowNanos + retryNanos);
  }

  void forget(Replica replica) {
    next.remove(replica);
  }

  void forget(String model) {
    next.values().forEach(models -> models.remove(model));
  }
}
