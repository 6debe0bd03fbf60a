package dev.warmpath.router.routing;

import java.util.Arrays;

/**
 * What one engine was given in the last three minutes, kept in parts of fifteen seconds.
 *
 * <p>Thread-safe.
 */
final class RecentWork {

  /** About how many it takes. */
  static final int BYTES = 400;

  private static final int PARTS = 12;
  private static final long PART_NANOS = 15_000_000_000L;

  private final double[] prefillMillis = new double[PARTS];
  private final long[] promptTokens = new long[PARTS];
  private final long[] cachedTokens = new long[PARTS];
  private boolean begun;
  private long newestPart;

  /** A request was given to it. */
  synchronized void add(long nowNanos, double millis, int tokens, int cached) {
    advance(Math.floorDiv(nowNanos, PART_NANOS));
    int part = Math.floorMod(newestPart, PARTS);
    prefillMillis[part] += millis;
    promptTokens[part] += tokens;
    cachedTokens[part] += cached;
  }

  private void advance(long part) {
    if (!begun || part - newestPart >= PARTS) {
      Arrays.fill(prefillMillis, 0);
      Arrays.fill(promptTokens, 0);
      Arrays.fill(cachedTokens, 0);
      newestPart = part;
      begun = true;
    }
    while (newestPart < part) {
      int next = Math.floorMod(++newestPart, PARTS);
      prefillMillis[next] = 0;
      promptTokens[next] = 0;
      cachedTokens[next] = 0;
    }
  }

  /**
   * Writes the prefill milliseconds to {@code into[at]} and the share of prompt tokens that were
   * cached, 0 to 1, behind it.
   */
  synchronized void read(long nowNanos, double[] into, int at) {
    long now = Math.max(newestPart, Math.floorDiv(nowNanos, PART_NANOS));
    double millis = 0;
    long tokens = 0;
    long cached = 0;
    for (long part = now - PARTS + 1; part <= newestPart; part++) {
      int place = Math.floorMod(part, PARTS);
      millis += prefillMillis[place];
      tokens += promptTokens[place];
      cached += cachedTokens[place];
    }
    into[at] = millis;
    into[at + 1] = tokens == 0 ? 0 : (double) cached / tokens;
  }
}
