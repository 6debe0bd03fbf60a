package dev.warmpath.router.fleet;

import org.jspecify.annotations.Nullable;

/**
 * What one engine loads from slower memory and from other engines, one load after another: those
 * that are not known to be over, and what a load from each costs.
 *
 * <p>Confined to its engine's lock.
 */
final class LoadQueue {

  /*
   * A load is over when its request's prompt is computed, less the time for what was computed behind
   * it. It began when the one before it was over, or when it was sent. So the cost is learned where
   * loads stand in a queue as where one comes alone. Where the engine has prompts to compute for
   * longer than its loads take, their ends do not show: such a load leaves when its estimate is over,
   * and teaches nothing; nor does one that is short beside what is computed behind it. But where the
   * engine was seen to finish no other prompt for a while before, the estimate of what came from
   * another engine was too low. Of its own memory that says nothing: it may have waited for room.
   *
   * Where loads are dear none is made, and none teaches. So what was learned is forgotten by half in
   * HALF_LIFE_NANOS without a load: one is tried again then, and only one, for while it is under way
   * what was learned counts in full.
   */

  private static final double NANOS_PER_MILLI = 1e6;
  private static final double HALF_LIFE_NANOS = 300e9;

  private final PrefillQueue queue = new PrefillQueue();
  private final Tier host = new Tier();
  private final Tier disk = new Tier();
  private final Tier store = new Tier();
  private final Tier others = new Tier();
  private long lastEndNanos = Long.MIN_VALUE;

  /** What loads of one tier cost; from other engines each its own. */
  private static final class Tier {
    static final int OWN = 0;

    private final TransferModel costs = new TransferModel();
    private boolean isTaught;
    private long usedNanos;

    double millis(int tokens, int from, boolean isTried, long nowNanos) {
      if (tokens == 0) {
        return 0;
      }
      double learned = costs.cost(from).millis(tokens);
      double standard = TransferCost.DEFAULT.millis(tokens);
      return standard * Math.pow(learned / standard, isTried ? 1 : kept(nowNanos));
    }

    /** The part of what was learned that is not forgotten. */
    private double kept(long nowNanos) {
      return isTaught ? Math.pow(0.5, (nowNanos - usedNanos) / HALF_LIFE_NANOS) : 0;
    }

    /** A load begins; what it may teach replaces what is forgotten by now. */
    double begin(long nowNanos) {
      double kept = kept(nowNanos);
      usedNanos = nowNanos;
      return kept;
    }

    void teach(Load load, double millis, long nowNanos) {
      costs.forget(load.kept);
      costs.observe(load.from, load.tokens, millis);
      isTaught = true;
      usedNanos = nowNanos;
    }
  }

  /** One request's load. */
  static final class Load {
    private final EngineLoad.Share share;
    private final Tier tier;
    private final int from;
    private final int tokens;
    private final long addedNanos;
    private final long beginNanos;
    private final boolean isStreamed;
    private final boolean isHidden;
    private final double kept;
    private final HandOuts.@Nullable HandOut handOut;

    private Load(
        EngineLoad.Share share,
        Tier tier,
        int from,
        int tokens,
        HandOuts.@Nullable HandOut handOut,
        long addedNanos,
        long beginNanos,
        boolean isStreamed,
        boolean isHidden) {
      this.share = share;
      this.tier = tier;
      this.from = from;
      this.tokens = tokens;
      this.handOut = handOut;
      this.addedNanos = addedNanos;
      this.beginNanos = beginNanos;
      this.isStreamed = isStreamed;
      this.isHidden = isHidden;
      this.kept = tier.begin(addedNanos);
    }

    /** How long it takes, as predicted. */
    double millis() {
      return share.prefillMicros / 1e3;
    }
  }

  /** What it takes to load these. */
  double millis(LoadedTokens loaded, long nowNanos) {
    advance(nowNanos);
    boolean isTried = !queue.isEmpty();
    return host.millis(loaded.host(), Tier.OWN, isTried, nowNanos)
        + disk.millis(loaded.disk(), Tier.OWN, isTried, nowNanos)
        + store.millis(loaded.store(), Tier.OWN, isTried, nowNanos)
        + others.millis(loaded.pulled(), number(loaded.from()), isTried, nowNanos);
  }

  /** Loads that are not over. */
  int waiting(long nowNanos) {
    advance(nowNanos);
    return queue.prompts();
  }

  /** How long these take. */
  double backlogMillis(long nowNanos) {
    advance(nowNanos);
    return queue.millis(nowNanos);
  }

  /**
   * A request is sent whose prompt is partly loaded.
   *
   * @param streamed whether its response will show when its prompt is computed
   * @param prefillBacklogMillis for how long the engine computes other prompts
   */
  Load add(LoadedTokens loaded, boolean streamed, double prefillBacklogMillis, long nowNanos) {
    double millis = millis(loaded, nowNanos);
    double pulledMillis =
        others.millis(loaded.pulled(), number(loaded.from()), !queue.isEmpty(), nowNanos);
    double backlogMillis = queue.millis(nowNanos);
    boolean isHidden = prefillBacklogMillis > backlogMillis + millis / 2;
    long beginNanos = nowNanos + Math.round(backlogMillis * NANOS_PER_MILLI);
    EngineLoad.Share share =
        new EngineLoad.Share(
            loaded.count(), Math.round(1000 * millis), 0, streamed && !isHidden, true);
    queue.add(share, nowNanos);
    EngineState source = loaded.from();
    HandOuts.HandOut handOut =
        source == null
            ? null
            : source.handOuts().begin(loaded.pulled(), pulledMillis, streamed, nowNanos);
    int own = Math.max(loaded.host(), loaded.disk());
    Tier tier = loaded.disk() > loaded.host() ? disk : host;
    int from = Tier.OWN;
    int tokens = own;
    if (loaded.pulled() > Math.max(own, loaded.store())) {
      tier = others;
      from = number(source);
      tokens = loaded.pulled();
    } else if (loaded.store() > own) {
      tier = store;
      tokens = loaded.store();
    }
    return new Load(share, tier, from, tokens, handOut, nowNanos, beginNanos, streamed, isHidden);
  }

  private static int number(@Nullable EngineState from) {
    return from == null ? Tier.OWN : from.number();
  }

  /**
   * The prompt of its request is computed; without effect if it was known to be over.
   *
   * @param computingMillis what was computed behind it takes, as predicted
   * @param computedNanos when the engine last finished another prompt
   */
  void over(Load load, double computingMillis, long computedNanos, long nowNanos) {
    advance(nowNanos);
    long endNanos = nowNanos - Math.round(computingMillis * NANOS_PER_MILLI);
    long sourceNanos =
        load.handOut == null ? Long.MIN_VALUE : load.handOut.over(endNanos, nowNanos);
    long beginNanos = Math.max(load.beginNanos, sourceNanos);
    if (load.share.queued) {
      beginNanos = Math.max(load.addedNanos, Math.max(lastEndNanos, sourceNanos));
    }
    double millis = (endNanos - beginNanos) / NANOS_PER_MILLI;
    boolean isLong = Math.max(millis, load.millis()) > computingMillis / 2;
    boolean isIdle = endNanos - computedNanos > computingMillis * NANOS_PER_MILLI;
    boolean isSeen = load.isHidden ? isIdle && load.tier == others : queue.isHead(load.share);
    if (load.isStreamed && isSeen && isLong && millis > 0) {
      load.tier.teach(load, millis, nowNanos);
    }
    if (!load.share.queued) {
      return;
    }
    lastEndNanos = Math.max(lastEndNanos, endNanos);
    queue.leave(load.share, nowNanos);
  }

  /** Its request is over, whatever became of it. */
  void remove(Load load, long nowNanos) {
    advance(nowNanos);
    if (load.handOut != null) {
      load.handOut.remove(nowNanos);
    }
    if (load.share.queued) {
      if (queue.isHead(load.share)) {
        lastEndNanos = Math.max(lastEndNanos, nowNanos);
      }
      queue.leave(load.share, nowNanos);
    }
  }

  private void advance(long nowNanos) {
    if (queue.advance(nowNanos)) {
      lastEndNanos = Math.max(lastEndNanos, queue.headNanos());
    }
  }

  /**
   * What one engine hands out to others, one after another: what is not known to be over.
   *
   * <p>Thread-safe.
   */
  static final class HandOuts {

    private final PrefillQueue queue = new PrefillQueue();
    private long lastEndNanos = Long.MIN_VALUE;

    /** How long those take; one that is overdue, as long again as it is late. */
    synchronized double backlogMillis(long nowNanos) {
      advance(nowNanos);
      return queue.millis(nowNanos);
    }

    /** How many there are. */
    synchronized int waiting(long nowNanos) {
      advance(nowNanos);
      return queue.prompts();
    }

    /**
     * One more is asked for.
     *
     * @param streamed whether its end will show; else it is over after its estimate
     */
    synchronized HandOut begin(int tokens, double millis, boolean streamed, long nowNanos) {
      EngineLoad.Share share =
          new EngineLoad.Share(tokens, Math.round(1_000 * millis), 0, streamed, true);
      queue.add(share, nowNanos);
      return new HandOut(share);
    }

    /** One of them. */
    final class HandOut {
      private final EngineLoad.Share share;

      private HandOut(EngineLoad.Share share) {
        this.share = share;
      }

      /** Its end was seen; when the one before it was over, or the least value. */
      long over(long endNanos, long nowNanos) {
        synchronized (HandOuts.this) {
          remove(nowNanos);
          long before = lastEndNanos;
          lastEndNanos = Math.max(before, endNanos);
          return before;
        }
      }

      /** Its request is over, whatever became of it. */
      void remove(long nowNanos) {
        synchronized (HandOuts.this) {
          advance(nowNanos);
          if (share.queued) {
            queue.leave(share, nowNanos);
          }
        }
      }
    }

    private void advance(long nowNanos) {
      if (queue.advance(nowNanos)) {
        lastEndNanos = Math.max(lastEndNanos, queue.headNanos());
      }
    }
  }
}
