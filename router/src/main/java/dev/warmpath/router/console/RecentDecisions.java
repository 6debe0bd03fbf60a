package dev.warmpath.router.console;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.logs.Decision;
import dev.warmpath.tokenizer.PromptResult;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The last decisions, bounded in number and bytes; the oldest give way.
 *
 * <p>Thread-safe. Adding takes the lock for a moment, and looking for as long as the ring is long.
 */
public final class RecentDecisions {

  /** How full it is. */
  record Fill(int kept, long bytes) {}

  /**
   * Which decisions are wanted.
   *
   * @param most so many at most
   * @param before only older ones than this id
   */
  public record Query(int most, long before, Predicate<KeptDecision> matches) {}

  private final RouterConfig.Admin config;
  private final long mostBytes;
  private final Clock clock;
  private final Deque<KeptDecision> kept = new ArrayDeque<>();
  private long bytes;
  private long lastId;

  RecentDecisions(RouterConfig.Admin config, long mostBytes, Clock clock) {
    this.config = config;
    this.mostBytes = mostBytes;
    this.clock = clock;
  }

  void add(Decision decision, @Nullable PreparedRequest request) {
    if (config.decisionsKept() == 0) {
      return;
    }
    long arrivedMillis = clock.millis() - Math.round(decision.times().total());
    PromptResult.Tokens tokens =
        request == null || !config.showPrompts() ? null : request.prompt().tokens();
    int[] tokenIds = tokens == null ? null : tokens.first(Integer.MAX_VALUE);
    synchronized (this) {
      KeptDecision next = new KeptDecision(++lastId, arrivedMillis, decision, tokenIds);
      kept.addLast(next);
      bytes += next.bytes();
      while (kept.size() > config.decisionsKept() || bytes > mostBytes) {
        bytes -= kept.removeFirst().bytes();
      }
    }
  }

  synchronized Fill fill() {
    return new Fill(kept.size(), bytes);
  }

  /** The number of the last one; 0 before the first. */
  synchronized long lastId() {
    return lastId;
  }

  /** Those that match, the newest first. */
  synchronized List<KeptDecision> newest(Query query) {
    List<KeptDecision> found = new ArrayList<>();
    Iterator<KeptDecision> each = kept.descendingIterator();
    while (each.hasNext() && found.size() < query.most()) {
      KeptDecision next = each.next();
      if (next.id() < query.before() && query.matches().test(next)) {
        found.add(next);
      }
    }
    return found;
  }

  /** Those after {@code id}, oldest first; of more than {@code most} the newest. */
  List<KeptDecision> since(long id, int most) {
    List<KeptDecision> found = newest(new Query(most, Long.MAX_VALUE, next -> next.id() > id));
    Collections.reverse(found);
    return found;
  }

  /** The one with this id, if it is still there. */
  Optional<KeptDecision> find(long id) {
    return newest(new Query(1, id + 1, next -> next.id() == id)).stream().findFirst();
  }
}
