package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.EngineFeedback;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.engine.EngineLoad;
import dev.warmpath.router.fleet.engine.EngineState;
import dev.warmpath.router.fleet.engine.ExpectedBlocks;
import dev.warmpath.router.fleet.match.Prompt;
import org.jspecify.annotations.Nullable;

/**
 * An engine that was given a request, and the load and expected blocks that are reserved for it
 * there until {@link #finished}.
 *
 * <p>To be told, each at most once that counts: {@link #answered}, {@link #firstToken}, {@link
 * #usage}, {@link #finished}. Whatever comes again, or after the end, does nothing.
 *
 * <p>Thread-safe.
 */
public final class Assignment implements DispatchResult {

  private static final double NANOS_PER_MILLI = 1e6;
  private static final double NONE_YET = -1;

  private final Dispatcher dispatcher;
  private final EngineState engine;
  private final Prediction prediction;
  private final int promptTokens;
  private final boolean comparable;
  private final boolean hidden;
  private final Reservation reservation;

  private volatile boolean asksReport;
  private boolean reported;
  private boolean over;
  private double firstTokenMillis = NONE_YET;
  private int cachedTokens;

  /**
   * What is held for the request.
   *
   * @param share its load
   * @param claim the blocks expected because of it, null if its tokens are not known
   * @param alone whether no prompt was queued before it
   * @param probe whether it shows if a suspended engine answers again
   * @param sinceNanos when it was dispatched
   * @param chain the prompt's blocks in the engine's space, null if its tokens are not known
   */
  record Reservation(
      EngineLoad.Share share,
      ExpectedBlocks.@Nullable Claim claim,
      boolean alone,
      boolean probe,
      long sinceNanos,
      @Nullable BlockChain chain) {}

  Assignment(
      Dispatcher dispatcher,
      EngineState engine,
      Prompt prompt,
      Prediction prediction,
      Reservation reservation) {
    this.dispatcher = dispatcher;
    this.engine = engine;
    this.promptTokens = prompt.lengthTokens();
    this.comparable = prompt.comparable();
    boolean shown = prompt.hasExtraKey() && reservation.chain != null;
    this.hidden = !shown && dispatcher.feedback().hides(engine.replica(), prompt.namespace());
    this.prediction = prediction;
    this.reservation = reservation;
    this.cachedTokens = prediction.cachedTokens();
  }

  public Replica replica() {
    return engine.replica();
  }

  /** Whether its prompt is in a name space that the engine's events do not show. */
  boolean hidden() {
    return hidden;
  }

  /** The data-parallel rank that it is meant for; 0 for a replica with one engine. */
  public int dpRank() {
    return engine.dpRank();
  }

  /** The engine's name, as it is shown in metrics. */
  public String engine() {
    return engine.name();
  }

  public Prediction prediction() {
    return prediction;
  }

  /** The cached tokens that the engine is expected to report, or {@link Prediction#NONE}. */
  public int predictedCachedTokens() {
    return prediction.cachedTokens();
  }

  /** Whether the request is to make the engine announce again what it holds of the prompt. */
  public boolean asksReport() {
    return asksReport;
  }

  void askReport() {
    asksReport = true;
  }

  /** The engine began an answer, if only to refuse the request as wrong: it is alive. */
  public void answered() {
    synchronized (dispatcher.lock()) {
      if (!over) {
        engine.suspension().answered();
      }
    }
  }

  /** A stream brought its first content: the prompt has been computed. */
  public void firstToken() {
    synchronized (dispatcher.lock()) {
      if (firstTokenMillis != NONE_YET || over) {
        return;
      }
      long now = dispatcher.nanos();
      firstTokenMillis = (now - reservation.sinceNanos) / NANOS_PER_MILLI;
      engine.load().prefilled(reservation.share, now);
    }
  }

  /**
   * The engine reported its usage.
   *
   * @param promptTokens the prompt's length as the engine counts it
   * @param cachedTokens how many of them it did not compute
   */
  public void usage(int promptTokens, int cachedTokens) {
    synchronized (dispatcher.lock()) {
      if (reported || over) {
        return;
      }
      reported = true;
      this.cachedTokens = cachedTokens;
    }
    DispatchListener listener = dispatcher.listener();
    listener.reported(this, promptTokens, cachedTokens);
    if (prediction.predicts()) {
      listener.compared(this, prediction.cachedTokens(), cachedTokens);
    }
    if (comparable && this.promptTokens != promptTokens) {
      listener.miscounted(this, this.promptTokens, promptTokens);
    } else if (comparable && reservation.chain != null) {
      long agoNanos = dispatcher.nanos() - reservation.sinceNanos;
      EngineFeedback.Reuse reuse =
          new EngineFeedback.Reuse(
              reservation.chain, cachedTokens, prediction.cachedTokens(), agoNanos);
      dispatcher.feedback().reused(replica(), dpRank(), reuse);
    }
  }

  /** The request ended in one way or another; what is reserved for it is given back. */
  public void finished(Outcome outcome) {
    synchronized (dispatcher.lock()) {
      if (over) {
        return;
      }
      over = true;
      conclude(outcome, dispatcher.nanos());
    }
    if (hidden) {
      dispatcher.feedback().hiddenEnded(replica(), dpRank());
    }
    dispatcher.listener().finished(this, outcome);
  }

  private void conclude(Outcome outcome, long nowNanos) {
    boolean prefilled = !engine.load().isQueued(reservation.share, nowNanos);
    engine.load().remove(reservation.share, nowNanos);
    endClaim(outcome == Outcome.COMPLETED || (prefilled && outcome == Outcome.CANCELLED), nowNanos);
    if (outcome == Outcome.COMPLETED) {
      engine.suspension().answered();
      learn();
    } else if (outcome == Outcome.FAILED) {
      engine.suspension().failed(nowNanos);
    } else if (reservation.probe) {
      engine.suspension().probeEnded();
    }
  }

  private void endClaim(boolean computed, long nowNanos) {
    if (reservation.claim == null) {
      return;
    }
    if (computed) {
      engine.expected().settle(reservation.claim, nowNanos);
    } else {
      engine.expected().cancel(reservation.claim);
    }
  }

  /** A time is a sample of the engine's speed if nothing was ahead and the work is known. */
  private void learn() {
    if (reservation.alone && firstTokenMillis != NONE_YET && comparable && cachedTokens >= 0) {
      engine.prefill().observe(promptTokens - cachedTokens, promptTokens, firstTokenMillis);
    }
  }
}
