package dev.warmpath.router.dispatch;

import io.micrometer.core.instrument.Counter;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Requests in flight that may be ended for more important ones that find no room: those whose
 * priority is behind that of requests which say nothing.
 *
 * <p>Thread-safe.
 */
final class Evictions {

  private record Running(Assignment assignment, PreparedRequest request, Runnable end) {

    /** As far as is seen: none before a stream's first content. */
    int computedTokens() {
      if (request.streamed() && !assignment.isComputed()) {
        return 0;
      }
      int uncached = assignment.uncachedTokens();
      return 1 + (uncached < 0 ? request.estimatedTokens() : uncached);
    }

    boolean makesRoomFor(PreparedRequest other) {
      return request.priority() > other.priority()
          && assignment.replica().isWell()
          && !assignment.replica().draining()
          && assignment.replica().serves(other.model())
          && (other.onlyReplicas() == null
              || other.onlyReplicas().contains(assignment.replica().name()));
    }
  }

  /** The least important first, of these the one for which the least was computed. */
  private static final Comparator<Running> FIRST =
      Comparator.<Running>comparingInt(each -> -each.request.priority())
          .thenComparingInt(Running::computedTokens);

  private final Map<Assignment, Running> running = new ConcurrentHashMap<>();
  private final Counter evicted;

  Evictions(Counter evicted) {
    this.evicted = evicted;
  }

  /**
   * A request may be ended from now on, until its assignment ends.
   *
   * @param end ends it; called once at most, on any thread
   */
  void add(Assignment assignment, PreparedRequest request, Runnable end) {
    if (request.priority() > 0) {
      running.put(assignment, new Running(assignment, request, end));
      if (assignment.isOver()) {
        running.remove(assignment);
      }
    }
  }

  void remove(Assignment assignment) {
    running.remove(assignment);
  }

  /** A request waits for room: ends another one, if one is less important. */
  void makeRoomFor(PreparedRequest request) {
    running.values().stream()
        .filter(each -> each.makesRoomFor(request))
        .min(FIRST)
        .filter(victim -> running.remove(victim.assignment, victim))
        .ifPresent(victim -> {
          evicted.increment();
          victim.end.run();
        });
  }
}
