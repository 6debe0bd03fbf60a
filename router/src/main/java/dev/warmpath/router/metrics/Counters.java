package dev.warmpath.router.metrics;

import io.micrometer.core.instrument.Counter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Counters of one metric by what tells them apart. Each is looked up, and so shown, when it is
 * first wanted; from then on wanting it takes no lock and no memory.
 *
 * <p>Thread-safe.
 *
 * @param <K> what tells them apart: few values, with a quick hash
 */
public final class Counters<K> {

  private final Map<K, Counter> known = new ConcurrentHashMap<>();
  private final Function<K, Counter> lookup;

  public Counters(Function<K, Counter> lookup) {
    this.lookup = lookup;
  }

  public Counter of(K key) {
    Counter counter = known.get(key);
    return counter == null ? known.computeIfAbsent(key, lookup) : counter;
  }
}
