package dev.warmpath.router.fleet.engine;

import dev.warmpath.kvindex.StorageTier;

/**
 * What one engine reads back from slower memory, one load after another: those that are not known
 * to be over, and what a load costs.
 *
 * <p>Confined to its engine's lock.
 */
final class LoadQueue {

  /*
   * A load is over when its request's prompt is computed, less the time for what was computed behind
   * it. It began when the one before it was over, or when it was sent. So the cost is learned as well
   * where loads stand in a queue as where one comes alone. A load that came alone to an engine that
   * had prompts to compute for longer teaches nothing: its end does not show.
   *
   * Where loads are dear none is made, and none teaches. So what was learned is forgotten by half in
   * HALF_LIFE_NANOS without a load: one is tried again then.
   */

  private static final double NANOS_PER_MILLI = 1e6;
  private static final double LEAST_MILLIS = 0.01;
  private static final double HALF_LIFE_NANOS = 120e9;

  private final PrefillQueue queue = new PrefillQueue();
  private final TransferModel costs = new TransferModel();
  private long lastEndNanos = Long.MIN_VALUE;
  private long taughtNanos;

  /** One request's load. */
  static final class Load {
    private final EngineLoad.Share share;
    private final StorageTier tier;
    private final int tokens;
    private final long addedNanos;
    private final boolean shows;

    private Load(
        EngineLoad.Share share, StorageTier tier, int tokens, long addedNanos, boolean shows) {
      this.share = share;
      this.tier = tier;
      this.tokens = tokens;
      this.addedNanos = addedNanos;
      this.shows = shows;
    }

    /** How long it takes, as predicted. */
    double millis() {
      return share.prefillMicros / 1e3;
    }
  }

  /** What it takes to read so many tokens of each tier back. */
  double millis(int host, int disk, long nowNanos) {
    double known = Math.pow(0.5, (nowNanos - taughtNanos) / HALF_LIFE_NANOS);
    return millis(StorageTier.CPU, host, known) + millis(StorageTier.DISK, disk, known);
  }

  private double millis(StorageTier tier, int tokens, double known) {
    return tokens == 0
        ? 0
        : known * costs.cost(tier.ordinal()).millis(tokens)
            + (1 - known) * TransferCost.DEFAULT.millis(tokens);
  }

  /** Loads that are not over. */
  int waiting(long nowNanos) {
    queue.advance(nowNanos);
    return queue.prompts();
  }

  /** How long these take. */
  double backlogMillis(long nowNanos) {
    queue.advance(nowNanos);
    return queue.millis(nowNanos);
  }

  /**
   * A request is sent whose prompt is partly read back.
   *
   * @param streamed whether its response will show when its prompt is computed
   * @param prefillBacklogMillis for how long the engine computes other prompts
   */
  Load add(
      int host, int disk, boolean streamed, boolean known, double prefillBacklogMillis, long now) {
    queue.advance(now);
    double millis = millis(host, disk, now);
    boolean isHidden = queue.isEmpty() && prefillBacklogMillis > millis / 2;
    EngineLoad.Share share =
        new EngineLoad.Share(host + disk, Math.round(1000 * millis), 0, streamed, known);
    queue.add(share, now);
    return new Load(
        share,
        disk > host ? StorageTier.DISK : StorageTier.CPU,
        Math.max(host, disk),
        now,
        known && !isHidden);
  }

  /** It was over then; without effect if that was known. */
  void over(Load load, long endNanos, long nowNanos) {
    queue.advance(nowNanos);
    if (!load.share.queued) {
      return;
    }
    long began = Math.max(load.addedNanos, lastEndNanos);
    if (load.shows && queue.isHead(load.share)) {
      double millis = Math.max(LEAST_MILLIS, (endNanos - began) / NANOS_PER_MILLI);
      costs.observe(load.tier.ordinal(), load.tokens, millis);
      taughtNanos = nowNanos;
    }
    lastEndNanos = Math.max(lastEndNanos, endNanos);
    queue.leave(load.share, nowNanos);
  }

  /** Its request is over, whatever became of it. */
  void remove(Load load, long nowNanos) {
    queue.advance(nowNanos);
    if (load.share.queued) {
      queue.leave(load.share, nowNanos);
    }
  }
}
