package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;

/**
 * Compares what the index predicted with what the engine reused. An engine that keeps reusing less
 * is over-predicted: its events do not show all name spaces, or were misread.
 *
 * <p>Where events show all name spaces, a short hit proves nothing if a block was removed since the
 * request was dispatched. A removal may come a little later than the answer, so judgement waits.
 * Where they do not, each short hit counts, and a small part of all hits does not matter: each
 * costs one cache miss.
 *
 * <p>Confined to the writer.
 */
final class ReuseJudge {

  /** A removal that explains a short hit is heard by then. */
  static final Duration WAIT = Duration.ofSeconds(1);

  static final Duration WINDOW = Duration.ofSeconds(60);

  /** Fewer short hits in a window do not matter. */
  static final int SHORT_HITS = 3;

  /** Where events do not show all name spaces, nor does a smaller part of the predicted hits. */
  static final int PART_OF_HITS = 10;

  private static final int MAX_WAITING = 256;

  private record ShortHit(long dispatchedNanos, long heardNanos) {}

  private final boolean showsNamespaces;
  private final StreamCounters counters;
  private final LongSupplier nanoClock;
  private final Deque<ShortHit> waiting = new ArrayDeque<>();
  private long windowBeganNanos;
  private int hits;
  private int shortHits;
  private boolean anyRemoval;
  private long lastRemovalNanos;
  private long removalsSeen;

  /**
   * @param showsNamespaces whether the engine's events show all name spaces
   */
  ReuseJudge(boolean showsNamespaces, StreamCounters counters, LongSupplier nanoClock) {
    this.showsNamespaces = showsNamespaces;
    this.counters = counters;
    this.nanoClock = nanoClock;
    windowBeganNanos = nanoClock.getAsLong();
  }

  /** The engine answered a request for which the index had predicted a hit or none. */
  void answered(ReportedReuse reuse) {
    hits += reuse.predictedTokens() > 0 ? 1 : 0;
    if (reuse.isShort() && waiting.size() < MAX_WAITING) {
      waiting.add(new ShortHit(reuse.dispatchedNanos(), nanoClock.getAsLong()));
    }
  }

  /** Something was applied: were there removals? */
  void applied() {
    long removals = counters.get(StreamCounter.BLOCKS_REMOVED) + counters.get(StreamCounter.CLEARS);
    if (removals != removalsSeen) {
      removalsSeen = removals;
      anyRemoval = true;
      lastRemovalNanos = nanoClock.getAsLong();
    }
  }

  /**
   * Lets time pass; whether the engine is over-predicted so often that it matters.
   *
   * @param believed whether the index is believed for the engine now
   * @param suspendedNanos when it was last not: what was predicted earlier is not believed since,
   *     and proves nothing of what is
   */
  boolean isOverPredicted(boolean believed, long suspendedNanos) {
    long now = nanoClock.getAsLong();
    if (now - windowBeganNanos >= WINDOW.toNanos()) {
      begin(now);
    }
    while (!waiting.isEmpty() && now - waiting.getFirst().heardNanos() >= WAIT.toNanos()) {
      ShortHit hit = waiting.removeFirst();
      if (believed
          && hit.dispatchedNanos() - suspendedNanos >= 0
          && !(showsNamespaces && isExplained(hit))) {
        counters.add(StreamCounter.SHORT_HITS);
        shortHits++;
      }
    }
    boolean matters = showsNamespaces || (long) shortHits * PART_OF_HITS >= hits;
    if (shortHits < SHORT_HITS || !matters) {
      return false;
    }
    begin(now);
    return true;
  }

  private boolean isExplained(ShortHit hit) {
    return anyRemoval && lastRemovalNanos - hit.dispatchedNanos() >= 0;
  }

  private void begin(long now) {
    windowBeganNanos = now;
    hits = 0;
    shortHits = 0;
  }
}
