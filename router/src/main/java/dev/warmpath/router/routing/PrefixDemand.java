package dev.warmpath.router.routing;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds prefixes that too few engines hold, such as a system prompt that all sessions share.
 *
 * <p>A prefix that the share f of recent requests begin with keeps f·N of N engines busy, so that
 * many should hold it: with fewer, its holders get more than their part of the load. Demand is
 * counted at the depths where what the candidates hold ends, for there prompts part; at most the
 * four deepest of each request.
 *
 * <p>It remembers the last 32 requests an engine, at most 16,384, in some 6 MB.
 *
 * <p>Thread-safe.
 */
final class PrefixDemand {

  private static final int DEPTHS = 4;
  private static final int REQUESTS_AN_ENGINE = 32;
  private static final int MOST_REQUESTS = 16_384;

  /* Fewer may be a single burst. */
  private static final int FEWEST_REQUESTS_AN_ENGINE = 8;

  private volatile int window = REQUESTS_AN_ENGINE;
  private final ArrayDeque<long[]> recent = new ArrayDeque<>(); // keys counted for each request
  private final Map<Long, Integer> requestsByKey = new HashMap<>();

  /** Leading blocks of the prompt that more engines should hold than do; 0 if enough do. */
  int underHeldBlocks(RoutingRequest request, Candidates candidates) {
    int depth = depthBelow(Integer.MAX_VALUE, request, candidates);
    for (int look = 0; depth > 0 && look < DEPTHS; look++) {
      if (wanted(request.blocks().key(depth - 1), candidates.count())
          > holders(depth, request, candidates)) {
        return depth;
      }
      depth = depthBelow(depth, request, candidates);
    }
    return 0;
  }

  /**
   * Counts a request that was routed, with the candidates as they were.
   *
   * @return the keys that it counts for
   */
  long[] add(RoutingRequest request, Candidates candidates) {
    long[] keys = new long[DEPTHS];
    int count = 0;
    int depth = depthBelow(Integer.MAX_VALUE, request, candidates);
    while (depth > 0 && count < DEPTHS) {
      keys[count++] = request.blocks().key(depth - 1);
      depth = depthBelow(depth, request, candidates);
    }
    long[] counted = Arrays.copyOf(keys, count);
    window = Math.min(MOST_REQUESTS, REQUESTS_AN_ENGINE * candidates.count());
    add(counted);
    return counted;
  }

  /** Counts a request for these keys, the window being as large as for the last one routed here. */
  synchronized void add(long[] keys) {
    for (long key : keys) {
      requestsByKey.merge(key, 1, Integer::sum);
    }
    recent.add(keys);
    while (recent.size() > window) {
      for (long key : recent.remove()) {
        requestsByKey.computeIfPresent(key, (k, count) -> count == 1 ? null : count - 1);
      }
    }
  }

  /** f·N. */
  private synchronized double wanted(long key, int engines) {
    int requests = Math.max(recent.size(), FEWEST_REQUESTS_AN_ENGINE * engines);
    return (double) requestsByKey.getOrDefault(key, 0) * engines / requests;
  }

  /** The most blocks below {@code bound} at which what a candidate holds ends; 0 if none does. */
  private static int depthBelow(int bound, RoutingRequest request, Candidates candidates) {
    int deepest = 0;
    for (int row = 0; row < candidates.count(); row++) {
      int depth = depth(row, request, candidates);
      deepest = depth < bound ? Math.max(deepest, depth) : deepest;
    }
    return deepest;
  }

  private static int holders(int depth, RoutingRequest request, Candidates candidates) {
    int holders = 0;
    for (int row = 0; row < candidates.count(); row++) {
      holders += depth(row, request, candidates) >= depth ? 1 : 0;
    }
    return holders;
  }

  private static int depth(int row, RoutingRequest request, Candidates candidates) {
    return Math.min(candidates.creditBlocks(request, row), request.blocks().count());
  }

  /** The part of its room that is taken, 0 to 1. */
  synchronized double memoryShare() {
    return (double) recent.size() / MOST_REQUESTS;
  }
}
