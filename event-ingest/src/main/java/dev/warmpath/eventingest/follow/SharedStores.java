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
 * <p>{@link #of} and {@link #tick} are the writer's.
 */
final class SharedStores {

  private final KvIndex index;
  private final LongSupplier nanoClock;
  private final Map<String, SharedStore> byName = new ConcurrentHashMap<>();

  SharedStores(KvIndex index, LongSupplier nanoClock) {
    this.index = index;
    this.nanoClock = nanoClock;
  }

  SharedStore of(StoreRules rules) {
    return byName.computeIfAbsent(rules.name(), name -> new SharedStore(index, rules, nanoClock));
  }

  @Nullable SharedStore get(String name) {
    return byName.get(name);
  }

  void tick() {
    byName.values().forEach(SharedStore::tick);
  }
}
