package dev.warmpath.router.routing;

import java.util.HashMap;
import java.util.Map;

/**
 * How many of the last {@value #WINDOW} requests were of each class.
 *
 * <p>Thread-safe.
 */
final class ClassShares {

  static final int WINDOW = 1024;

  private final long[] last = new long[WINDOW];
  private final Map<Long, Integer> counts = new HashMap<>();
  private long added;

  /** A request of this class was routed. */
  synchronized void add(long requestClass) {
    int place = (int) (added % WINDOW);
    if (added++ >= WINDOW) {
      counts.computeIfPresent(last[place], (gone, count) -> count == 1 ? null : count - 1);
    }
    last[place] = requestClass;
    counts.merge(requestClass, 1, Integer::sum);
  }

  /** Requests of this class. */
  synchronized int requests(long requestClass) {
    return counts.getOrDefault(requestClass, 0);
  }

  /** Requests of all classes. */
  synchronized int all() {
    return (int) Math.min(added, WINDOW);
  }

  /** How many classes are remembered. */
  synchronized int classes() {
    return counts.size();
  }
}
