package dev.warmpath.router.fleet;

/**
 * What one engine hands out to others, one after another: what is not known to be over.
 *
 * <p>Thread-safe.
 */
final class HandOuts {

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
