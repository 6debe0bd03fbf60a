package dev.warmpath.eventingest.session;

import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;

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

  private record ShortHit(Instant dispatched, Instant heard) {}

  private final boolean showsNamespaces;
  private final StreamCounters counters;
  private final Clock clock;
  private final Deque<ShortHit> waiting = new ArrayDeque<>();
  private Instant windowBegan = Instant.MIN;
  private int hits;
  private int shortHits;
  private Instant lastRemoval = Instant.MIN;
  private long removalsSeen;

  /**
   * @param showsNamespaces whether the engine's events show all name spaces
   */
  ReuseJudge(boolean showsNamespaces, StreamCounters counters, Clock clock) {
    this.showsNamespaces = showsNamespaces;
    this.counters = counters;
    this.clock = clock;
  }

  /** The engine answered a request for which the index had predicted a hit or none. */
  void answered(ReportedReuse reuse, Instant dispatched) {
    hits += reuse.predictedTokens() > 0 ? 1 : 0;
    if (reuse.isShort() && waiting.size() < MAX_WAITING) {
      waiting.add(new ShortHit(dispatched, clock.instant()));
    }
  }

  /** Something was applied: were there removals? */
  void applied() {
    long removals = counters.get(StreamCounter.BLOCKS_REMOVED) + counters.get(StreamCounter.CLEARS);
    if (removals != removalsSeen) {
      removalsSeen = removals;
      lastRemoval = clock.instant();
    }
  }

  /**
   * Lets time pass; whether the engine is over-predicted so often that it matters.
   *
   * @param believed whether the index is believed for the engine now
   */
  boolean isOverPredicted(boolean believed) {
    Instant now = clock.instant();
    if (!windowBegan.plus(WINDOW).isAfter(now)) {
      begin(now);
    }
    while (!waiting.isEmpty() && !waiting.getFirst().heard().plus(WAIT).isAfter(now)) {
      ShortHit hit = waiting.removeFirst();
      if (believed && !(showsNamespaces && isExplained(hit))) {
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
    return !lastRemoval.isBefore(hit.dispatched());
  }

  private void begin(Instant now) {
    windowBegan = now;
    hits = 0;
    shortHits = 0;
  }
}
