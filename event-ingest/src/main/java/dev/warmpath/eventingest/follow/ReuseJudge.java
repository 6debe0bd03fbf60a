package dev.warmpath.eventingest.follow;

import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.stream.EngineStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What an engine's answers say about the index: a hit that was reported proves what is doubted, and
 * hits that stay short again and again speak against what is believed.
 *
 * <p>A hit that stays short speaks against nothing if a block was removed since the request was
 * dispatched. A removal may come a little later than the answer, so judgement waits.
 *
 * <p>Confined to the writer.
 */
final class ReuseJudge {

  /** A removal that explains a short hit is heard by then. */
  static final Duration WAIT = Duration.ofSeconds(1);

  /** So many short hits in {@link #WINDOW} that nothing explains are too many. */
  static final int SHORT_HITS = 3;

  static final Duration WINDOW = Duration.ofSeconds(60);

  /** More wait for nothing: three are enough. */
  private static final int MAX_WAITING = 64;

  private record ShortHit(Instant dispatched, Instant heard) {}

  private final EngineStream stream;
  private final StreamCounters counters;
  private final Clock clock;
  private final Deque<ShortHit> waiting = new ArrayDeque<>();
  private final Deque<Instant> unexplained = new ArrayDeque<>();
  private Instant lastRemoval = Instant.MIN;
  private long removalsSeen;

  ReuseJudge(EngineStream stream, StreamCounters counters, Clock clock) {
    this.stream = stream;
    this.counters = counters;
    this.clock = clock;
  }

  /** The engine answered a request. */
  void reused(ReportedReuse reuse) {
    Instant dispatched = clock.instant().minus(reuse.ago());
    if (reuse.predictedTokens() <= reuse.cachedTokens()) {
      stream.reused(reuse.prompt(), reuse.cachedTokens(), dispatched);
    } else if (waiting.size() < MAX_WAITING) {
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

  /** Lets time pass. */
  void tick() {
    Instant now = clock.instant();
    while (!waiting.isEmpty() && !waiting.getFirst().heard().plus(WAIT).isAfter(now)) {
      ShortHit hit = waiting.removeFirst();
      if (lastRemoval.isBefore(hit.dispatched()) && stream.trust().trust() == Trust.EXACT) {
        unexplained(now);
      }
    }
  }

  private void unexplained(Instant now) {
    counters.add(StreamCounter.SHORT_HITS);
    unexplained.add(now);
    while (unexplained.getFirst().plus(WINDOW).isBefore(now)) {
      unexplained.removeFirst();
    }
    if (unexplained.size() >= SHORT_HITS) {
      unexplained.clear();
      stream.doubt(
          "the engine reused less than the index showed, %d times in %d s"
              .formatted(SHORT_HITS, WINDOW.toSeconds()));
    }
  }
}
