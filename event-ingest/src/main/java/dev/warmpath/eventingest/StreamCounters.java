package dev.warmpath.eventingest;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The counts of one engine. None falls, whatever numbers the engine sends: a count that is full
 * stays full.
 *
 * <p>Thread-safe.
 */
public final class StreamCounters {

  private static final StreamCounter[] ALL = StreamCounter.values();

  private final AtomicLongArray counts = new AtomicLongArray(ALL.length);

  /** Counts one more. */
  public void add(StreamCounter counter) {
    add(counter, 1);
  }

  /** Counts {@code amount} more. */
  public void add(StreamCounter counter, long amount) {
    if (counts.addAndGet(counter.ordinal(), amount) < 0) {
      counts.set(counter.ordinal(), Long.MAX_VALUE);
    }
  }

  /** The count so far. */
  public long get(StreamCounter counter) {
    return counts.get(counter.ordinal());
  }

  /** All counts by metric name, in the order of {@link StreamCounter}. */
  public Map<String, Long> snapshot() {
    Map<String, Long> byName = new LinkedHashMap<>();
    for (StreamCounter counter : ALL) {
      byName.put(counter.label(), get(counter));
    }
    return byName;
  }
}
