package dev.warmpath.router.fleet;

import dev.warmpath.router.fleet.EngineLoad.Share;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The prompts that an engine has still to compute, in the order in which they were sent.
 *
 * <p>Confined to its engine's lock.
 */
final class PrefillQueue {

  /*
   * The engine is taken to compute prompts in that order. The time since the first of them became
   * the first (headNanos) counts as work done on it, up to its own estimate: a prompt that takes
   * longer than estimated holds those behind it where they are. Only a stream shows when its prompt
   * is computed. Of other responses the first byte comes after the last token, so their prompts leave
   * the queue when their estimate is over.
   */

  private int prompts;
  private long tokens;
  private long micros;
  private @Nullable Share head;
  private @Nullable Share tail;
  private long headNanos;

  /** Prompts in it. */
  int prompts() {
    return prompts;
  }

  /** Tokens of them to compute. */
  long tokens() {
    return tokens;
  }

  boolean isEmpty() {
    return head == null;
  }

  /** Since when the first one is the first, or was the last that left. */
  long headNanos() {
    return headNanos;
  }

  /** Whether it is the first. */
  @SuppressWarnings("ReferenceEquality")
  boolean isHead(Share share) {
    return head == share;
  }

  void add(Share share, long nowNanos) {
    prompts++;
    tokens += share.prefillTokens;
    micros += share.prefillMicros;
    share.queued = true;
    share.before = tail;
    if (tail == null) {
      head = share;
      headNanos = nowNanos;
    } else {
      tail.behind = share;
    }
    tail = share;
  }

  /** The prompt is computed, or its request is over. */
  void leave(Share share, long nowNanos) {
    if (share == head) {
      headNanos = nowNanos;
    }
    unlink(share);
  }

  /**
   * Lets the first one leave if its estimate is over and nothing else shows that.
   *
   * @return the one that left, or null
   */
  @Nullable Share elapsed(long nowNanos) {
    Share first = head;
    if (first == null || first.streamed || sinceHeadMicros(nowNanos) < first.prefillMicros) {
      return null;
    }
    headNanos += TimeUnit.MICROSECONDS.toNanos(first.prefillMicros);
    unlink(first);
    return first;
  }

  /**
   * Lets those leave whose estimate is over and of which nothing else shows it; whether any did.
   */
  boolean advance(long nowNanos) {
    boolean any = false;
    while (elapsed(nowNanos) != null) {
      any = true;
    }
    return any;
  }

  /** The time that went into the first one. */
  long headMicros(long nowNanos) {
    return head == null ? 0 : Math.min(sinceHeadMicros(nowNanos), head.prefillMicros);
  }

  /** How long it takes to compute them all. */
  double millis(long nowNanos) {
    Share first = head;
    if (first == null) {
      return 0;
    }
    long left = first.prefillMicros - sinceHeadMicros(nowNanos);
    return (micros - first.prefillMicros + Math.abs(left)) / 1000.0;
  }

  private long sinceHeadMicros(long nowNanos) {
    return Math.max(0, TimeUnit.NANOSECONDS.toMicros(nowNanos - headNanos));
  }

  private void unlink(Share share) {
    if (share.before == null) {
      head = share.behind;
    } else {
      share.before.behind = share.behind;
    }
    if (share.behind == null) {
      tail = share.before;
    } else {
      share.behind.before = share.before;
    }
    share.before = null;
    share.behind = null;
    share.queued = false;
    prompts--;
    tokens -= share.prefillTokens;
    micros -= share.prefillMicros;
  }
}
