package dev.warmpath.router.tokenize;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Which engines were probed for which models.
 *
 * <p>Confined to the thread that probes.
 */
final class ProbeBook {

  private static final long DONE = Long.MAX_VALUE;

  private final long retryNanos;

  /** With which tokenizer it was probed, and when it is to be probed again, or {@link #DONE}. */
  private record Probed(ModelTokenizer tokenizer, long nextNanos) {}

  private final Map<Replica, Map<String, Probed>> probed = new WeakHashMap<>();

  ProbeBook(long retryNanos) {
    this.retryNanos = retryNanos;
  }

  boolean due(Replica replica, String model, ModelTokenizer tokenizer, long nowNanos) {
    Probed last = probed.getOrDefault(replica, Map.of()).get(model);
    return last == null
        || last.tokenizer != tokenizer
        || (last.nextNanos != DONE && nowNanos - last.nextNanos >= 0);
  }

  /** It was probed; without an answer it is tried again later. */
  void done(
      Replica replica, String model, ModelTokenizer tokenizer, boolean answered, long nowNanos) {
    probed
        .computeIfAbsent(replica, r -> new HashMap<>())
        .put(model, new Probed(tokenizer, answered ? DONE : nowNanos + retryNanos));
  }

  /** Forgets all other models. */
  void retain(Set<String> models) {
    probed.values().forEach(known -> known.keySet().retainAll(models));
  }

  void forget(Replica replica) {
    probed.remove(replica);
  }

  void forget(String model) {
    probed.values().forEach(models -> models.remove(model));
  }
}
