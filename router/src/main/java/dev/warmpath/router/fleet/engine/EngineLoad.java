package dev.warmpath.router.fleet.engine;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Load;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Counts what an engine was given and has not finished. Every share that is added is removed once.
 * Its prefill is queued until the prompt is known to be computed, and shrinks as time passes.
 *
 * <p>Confined to its engine's lock.
 */
public final class EngineLoad {

  /*
   * The engine is taken to compute prompts in the order in which they were sent. The time since the
   * first of them became the first (headNanos) counts as work done on it, up to its own estimate: a
   * prompt that takes longer than estimated holds those behind it where they are. Only a stream
   * shows when its prompt is computed. Of other responses the first byte comes after the last
   * token, so their prompts leave the queue when their estimate is over.
   */

  /**
   * What one request adds.
   *
   * <p>Confined to its engine's lock.
   */
  public static final class Share {
    private final int prefillTokens;
    private final long prefillMicros;
    private final int contextTokens;
    private final boolean streamed;
    private final boolean known;
    private boolean queued;
    private @Nullable Share before;
    private @Nullable Share behind;

    /**
     * @param prefillTokens prompt tokens to compute
     * @param prefillMicros the time for these, whole microseconds so that sums return to zero
     * @param contextTokens tokens of its prompt
     * @param streamed whether its response will show when the prompt is computed
     * @param known whether the tokens are more than a guess
     */
    public Share(
        int prefillTokens, long prefillMicros, int contextTokens, boolean streamed, boolean known) {
      this.prefillTokens = prefillTokens;
      this.prefillMicros = prefillMicros;
      this.contextTokens = contextTokens;
      this.streamed = streamed;
      this.known = known;
    }
  }

  private int requests;
  private int waiting;
  private long contextTokens;
  private long queuedTokens;
  private long queuedMicros;
  private @Nullable Share head;
  private @Nullable Share tail;
  private long headNanos;
  private final PrefillPeriod period = new PrefillPeriod();
  private PrefillPeriod.@Nullable Sample sample;

  /** A request with this share is sent. */
  public void add(Share share, long nowNanos) {
    advance(nowNanos);
    requests++;
    contextTokens += share.contextTokens;
    queuedTokens += share.prefillTokens;
    queuedMicros += share.prefillMicros;
    share.queued = true;
    waiting++;
    share.before = tail;
    if (tail == null) {
      head = share;
      headNanos = nowNanos;
      period.begin(nowNanos);
    } else {
      tail.behind = share;
    }
    tail = share;
  }

  /** A stream's first token came: its prompt is computed. Without effect if that was known. */
  public void prefilled(Share share, long nowNanos) {
    advance(nowNanos);
    if (!share.queued) {
      return;
    }
    if (share.known) {
      period.computed(share.prefillTokens, share.contextTokens, nowNanos);
    } else {
      period.spoil();
    }
    leave(share, nowNanos);
    if (head == null || period.isLong()) {
      sample = period.sample(nowNanos);
      period.begin(nowNanos);
    }
  }

  private void leave(Share share, long nowNanos) {
    if (share == head) {
      headNanos = nowNanos;
    }
    unlink(share);
  }

  /** What the engine was seen to compute since this was asked, or null. */
  PrefillPeriod.@Nullable Sample takeSample() {
    PrefillPeriod.Sample taken = sample;
    sample = null;
    return taken;
  }

  /** The request is over. */
  public void remove(Share share, long nowNanos) {
    advance(nowNanos);
    if (share.queued) {
      period.spoil(); // nobody knows how much of it was computed
      leave(share, nowNanos);
    }
    requests--;
    contextTokens -= share.contextTokens;
  }

  /** Requests that were sent and are not over. */
  public int requests() {
    return requests;
  }

  /** Whether the request's prompt still counts as not computed. */
  public boolean isQueued(Share share, long nowNanos) {
    advance(nowNanos);
    return share.queued;
  }

  /** The counts now. */
  public Load snapshot(long nowNanos) {
    double queuedMillis = queuedMillis(nowNanos);
    return new Load(requests, waiting, queuedTokens, queuedMillis, contextTokens);
  }

  /** Says the counts now of the candidate that was added last. */
  void addTo(Candidates candidates, long nowNanos) {
    double queuedMillis = queuedMillis(nowNanos);
    candidates.load(requests, waiting, queuedTokens, queuedMillis, contextTokens);
  }

  private double queuedMillis(long nowNanos) {
    advance(nowNanos);
    Share first = head;
    long done = first == null ? 0 : Math.min(first.prefillMicros, sinceHeadMicros(nowNanos));
    return (queuedMicros - done) / 1000.0;
  }

  private void advance(long nowNanos) {
    Share first = head;
    while (first != null && !first.streamed && sinceHeadMicros(nowNanos) >= first.prefillMicros) {
      headNanos += TimeUnit.MICROSECONDS.toNanos(first.prefillMicros);
      period.spoil();
      unlink(first);
      first = head;
    }
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
    waiting--;
    queuedTokens -= share.prefillTokens;
    queuedMicros -= share.prefillMicros;
  }
}
