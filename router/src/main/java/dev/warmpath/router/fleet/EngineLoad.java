package dev.warmpath.router.fleet;

import dev.warmpath.router.fleet.PrefillModel.PrefillPeriod;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Load;
import org.jspecify.annotations.Nullable;

/**
 * Counts what an engine was given and has not finished. Every share that is added is removed once.
 * Its prefill is queued until the prompt is known to be computed, and shrinks as time passes.
 *
 * <p>Confined to its engine's lock.
 */
public final class EngineLoad {

  /**
   * What one request adds.
   *
   * <p>Confined to its engine's lock.
   */
  public static final class Share {
    final int prefillTokens;
    final long prefillMicros;
    private final int contextTokens;
    final boolean streamed;
    private final boolean known;
    final boolean computed;

    /** Its prompt was computed, and how long that took is known or not. */
    private boolean counted;

    /** The queue's. */
    boolean queued;

    @Nullable Share before;
    @Nullable Share behind;

    /**
     * @param prefillTokens prompt tokens to compute
     * @param prefillMicros the time for these, whole microseconds so that sums return to zero
     * @param contextTokens tokens of its prompt
     * @param streamed whether its response will show when the prompt is computed
     * @param known whether the tokens are more than a guess
     */
    public Share(
        int prefillTokens, long prefillMicros, int contextTokens, boolean streamed, boolean known) {
      this(prefillTokens, prefillMicros, contextTokens, streamed, known, false);
    }

    private Share(
        int prefillTokens,
        long prefillMicros,
        int contextTokens,
        boolean streamed,
        boolean known,
        boolean computed) {
      this.prefillTokens = prefillTokens;
      this.prefillMicros = prefillMicros;
      this.contextTokens = contextTokens;
      this.streamed = streamed;
      this.known = known;
      this.computed = computed;
    }

    /** One whose prompt another engine computes. */
    static Share computedElsewhere(int contextTokens) {
      return new Share(0, 0, contextTokens, true, true, true);
    }

    /** The same for a prompt that waits for its load for longer than it is computed. */
    Share unqueued() {
      return new Share(prefillTokens, prefillMicros, contextTokens, streamed, known, true);
    }
  }

  /* Prefills of the last time, the older the less: a share that was added t ago counts e^(−t/RECENT). */
  private static final double RECENT_NANOS = 20e9;
  private static final double MOST_PREFILL_SHARE = 0.95;
  private double recentMicros;
  private long recentNanos;

  /* Running sums: what was computed, what was with no known time, and the context over time. */
  private long computedMicros;
  private long untimed;
  private double contextTokenMillis;
  private long summedNanos;

  private int requests;
  private long contextTokens;
  private long plannedTokens;
  private double plannedMillis;
  private final PrefillQueue queue = new PrefillQueue();
  private final PrefillPeriod period = new PrefillPeriod();
  private PrefillPeriod.@Nullable Sample sample;

  /** A request with this share is sent. */
  public void add(Share share, long nowNanos) {
    advance(nowNanos);
    recentMicros = recentMicros(nowNanos) + share.prefillMicros;
    recentNanos = nowNanos;
    requests++;
    sum(nowNanos);
    contextTokens += share.contextTokens;
    if (share.computed) {
      return;
    }
    if (queue.isEmpty()) {
      period.begin(nowNanos);
    }
    queue.add(share, nowNanos);
  }

  /** A stream's first token came: its prompt is computed. Without effect if that was known. */
  public void prefilled(Share share, long nowNanos) {
    advance(nowNanos);
    count(share);
    if (!share.queued) {
      return;
    }
    if (share.known) {
      period.computed(share.prefillTokens, share.contextTokens, nowNanos);
    } else {
      period.spoil();
    }
    queue.leave(share, nowNanos);
    if (queue.isEmpty() || period.isLong()) {
      sample = period.sample(nowNanos);
      period.begin(nowNanos);
    }
  }

  /** What the engine was seen to compute since this was asked, or null. */
  PrefillPeriod.@Nullable Sample takeSample() {
    PrefillPeriod.Sample taken = sample;
    sample = null;
    return taken;
  }

  private void count(Share share) {
    if (share.counted) {
      return;
    }
    share.counted = true;
    if (share.known) {
      computedMicros += share.prefillMicros;
    } else {
      untimed++;
    }
  }

  /** The request is over. */
  public void remove(Share share, long nowNanos) {
    advance(nowNanos);
    untimed += share.counted || share.prefillMicros == 0 ? 0 : 1;
    if (share.queued) {
      period.spoil(); // nobody knows how much of it was computed
      recentMicros = Math.max(0, recentMicros(nowNanos) - share.prefillMicros);
      recentNanos = nowNanos;
      queue.leave(share, nowNanos);
    }
    requests--;
    sum(nowNanos);
    contextTokens -= share.contextTokens;
  }

  /** How long the prompts take that wait to be computed. */
  double backlogMillis(long nowNanos) {
    advance(nowNanos);
    return queue.millis(nowNanos);
  }

  /** Requests that were sent and are not over. */
  public int requests() {
    return requests;
  }

  private void sum(long nowNanos) {
    contextTokenMillis += contextTokens * ((nowNanos - summedNanos) / 1e6);
    summedNanos = nowNanos;
  }

  /** The sum of the context in flight over the time until now; differences of it count. */
  double contextTokenMillis(long nowNanos) {
    sum(nowNanos);
    return contextTokenMillis;
  }

  /**
   * The time for all prompts that were computed until now, that which is under way in part;
   * differences of it count.
   */
  long computedMicros(long nowNanos) {
    advance(nowNanos);
    return computedMicros + queue.headMicros(nowNanos);
  }

  /** Prompts that were computed, or partly, in a time that is not known. */
  long untimed() {
    return untimed;
  }

  private double recentMicros(long nowNanos) {
    return recentMicros == 0 ? 0 : recentMicros * Math.exp((recentNanos - nowNanos) / RECENT_NANOS);
  }

  /** For what share of the last 20 s or so it computed prompts, 0 to 0.95. */
  double prefillShare(long nowNanos) {
    return Math.min(MOST_PREFILL_SHARE, recentMicros(nowNanos) * 1e3 / RECENT_NANOS);
  }

  /** Prompt tokens of the requests in flight. */
  long contextTokens() {
    return contextTokens;
  }

  /** Whether the request's prompt still counts as not computed. */
  public boolean isQueued(Share share, long nowNanos) {
    advance(nowNanos);
    return share.queued;
  }

  /** So much shall be computed that is not sent yet: policies see that it waits, too. */
  void plan(long tokens, double millis) {
    plannedTokens = tokens;
    plannedMillis = millis;
  }

  /** How much that is. */
  long plannedTokens() {
    return plannedTokens;
  }

  /** The counts now, of what was sent. */
  public Load snapshot(long nowNanos) {
    advance(nowNanos);
    return new Load(
        requests, queue.prompts(), queue.tokens(), queue.millis(nowNanos), contextTokens);
  }

  /** Says the counts now of the candidate that was added last. */
  void addTo(Candidates candidates, long nowNanos) {
    advance(nowNanos);
    candidates.load(
        requests,
        queue.prompts(),
        queue.tokens() + plannedTokens,
        queue.millis(nowNanos) + plannedMillis,
        contextTokens);
  }

  private void advance(long nowNanos) {
    for (Share left = queue.elapsed(nowNanos); left != null; left = queue.elapsed(nowNanos)) {
      period.spoil();
      count(left);
    }
  }
}
