package dev.warmpath.eventingest.follow;

import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.apply.SharedStore;
import dev.warmpath.kvindex.KvIndex;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The stores that several engines read, each from the first moment that one of its readers, or its
 * own events, are followed; there are as many as are configured.
 *
 * <p>{@link #of}, {@link #drop} and {@link #tick} are the writer's.
 */
final class SharedStores {

  private final KvIndex index;
  private final LongSupplier nanoClock;
  private final Map<StoreRules, SharedStore> byRules = new ConcurrentHashMap<>();

  SharedStores(KvIndex index, LongSupplier nanoClock) {
    this.index = index;
    this.nanoClock = nanoClock;
  }

  SharedStore of(StoreRules rules) {
    return byRules.computeIfAbsent(rules, unknown -> new SharedStore(index, rules, nanoClock));
  }

  @Nullable SharedStore get(StoreRules rules) {
    return byRules.get(rules);
  }

  /** Nobody reads it any more, and its own events are not followed. */
  void drop(StoreRules rules) {
    SharedStore store = byRules.remove(rules);
    if (store != null) {
      store.close();
    }
  }

  void tick() {
    byRules.values().forEach(SharedStore::tick);
  }
}
