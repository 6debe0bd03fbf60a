package dev.warmpath.router.routing;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a policy remembers by a key: at most so many entries, those that were put longest ago go
 * first.
 *
 * <p>Thread-safe.
 */
final class RecentMap<K, V> {

  private final int limit;
  private final Map<K, V> entries = new LinkedHashMap<>();

  public RecentMap(int limit) {
    this.limit = limit;
  }

  /** The value that was put last, null if none is remembered. */
  public synchronized @Nullable V get(K key) {
    return entries.get(key);
  }

  /** Remembers the value in place of an earlier one. */
  public synchronized void put(K key, V value) {
    entries.remove(key);
    entries.put(key, value);
    if (entries.size() > limit) {
      entries.remove(entries.keySet().iterator().next());
    }
  }

  /** The part of the limit that is taken, 0 to 1. */
  public synchronized double share() {
    return (double) entries.size() / limit;
  }
}
