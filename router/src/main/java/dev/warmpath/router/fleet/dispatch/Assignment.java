package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.engine.Booking;
import dev.warmpath.router.fleet.engine.EngineMeters;
import dev.warmpath.router.fleet.engine.EngineState;
import dev.warmpath.router.fleet.engine.Outcome;
import dev.warmpath.router.fleet.engine.Reservation;
import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.router.routing.Policy;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
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

  /**
   * Why the engine was chosen, and how it stood then.
   *
   * @param policy the name of the policy that chose
   * @param reason the policy's word for why
   * @param inFlight requests that the engine had, from dispatch to last byte
   * @param waiting those of them whose prompts were not computed yet
   * @param prefillBacklogMillis the time predicted for these prompts
   * @param prefillMillis the time predicted for this request's prompt; 0 if it is not known
   * @param scored what the choice would have cost: the winner first, then some others; none if that
   *     is not kept
   */
  public record Grounds(
      String policy,
      String reason,
      int inFlight,
      int waiting,
      double prefillBacklogMillis,
      double prefillMillis,
      List<Explanation.Row> scored) {}

  private final Dispatcher dispatcher;
  private final EngineState engine;
  private final Prediction prediction;
  private final int promptTokens;
  private final boolean comparable;
  private final Reservation reservation;
  private final AtomicBoolean reported = new AtomicBoolean();
  private volatile @Nullable Grounds grounds;
  private volatile long[] note = Policy.NOTHING;

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
    this.prediction = prediction;
    this.reservation = reservation;
  }

  public Replica replica() {
    return engine.replica();
  }

  /** The data-parallel rank that it is meant for; 0 for a replica with one engine. */
  public int dpRank() {
    return engine.dpRank();
  }

  /** The engine's name, as it is shown in metrics. */
  public String engine() {
    return engine.name();
  }

  /** What is counted of the engine's requests. */
  public EngineMeters meters() {
    return engine.meters();
  }

  public Prediction prediction() {
    return prediction;
  }

  /** The cached tokens that the engine is expected to report, or {@link Prediction#NONE}. */
  public int predictedCachedTokens() {
    return prediction.cachedTokens();
  }

  /** The prompt's blocks in the engine's space, null if its tokens are not known. */
  public @Nullable BlockChain blocks() {
    return reservation.chain();
  }

  /** Why the engine was chosen; null until the policy has said it. */
  public @Nullable Grounds grounds() {
    return grounds;
  }

  /**
   * The policy has chosen.
   *
   * @param toRemember what other routers' policies must remember
   */
  void chosen(Grounds why, long[] toRemember) {
    grounds = why;
    note = toRemember;
  }

  /** It as other routers are told. */
  public Booking booking() {
    return reservation.booking(engine.name(), note);
  }

  /** Numbers it among the assignments of this process. */
  public long number() {
    return reservation.turn();
  }

  /** A byte of the engine's response came. */
  public void responded(long nowNanos) {
    engine.responded(nowNanos);
  }

  /** The engine began an answer, if only to refuse the request as wrong: it is alive. */
  public void answered() {
    engine.answered(reservation);
  }

  /** The engine asked for so much time without requests. */
  public void rest(int seconds) {
    engine.rest(seconds, dispatcher.nanos());
  }

  /** A stream brought its first content: the prompt has been computed. */
  public void firstToken() {
    if (engine.firstToken(reservation, dispatcher.nanos())) {
      dispatcher.listeners().forEach(listener -> listener.prefilled(this));
    }
  }

  /**
   * The engine reported its usage.
   *
   * @param promptTokens the prompt's length as the engine counts it
   * @param cachedTokens how many of them it did not compute
   */
  public void usage(int promptTokens, int cachedTokens) {
    if (engine.isOver(reservation) || !reported.compareAndSet(false, true)) {
      return;
    }
    for (DispatchListener listener : dispatcher.listeners()) {
      listener.reported(this, promptTokens, cachedTokens);
    }
    if (prediction.predicts()) {
      meters().countPrediction(prediction.cachedTokens(), cachedTokens);
    }
    BlockChain chain = reservation.chain();
    if (comparable && this.promptTokens != promptTokens) {
      meters().countMiscount();
      for (DispatchListener listener : dispatcher.listeners()) {
        listener.miscounted(this, this.promptTokens, promptTokens);
      }
    } else if (comparable && chain != null) {
      ReportedReuse reuse =
          new ReportedReuse(
              chain, cachedTokens, prediction.cachedTokens(), reservation.sinceNanos());
      dispatcher.engineEvents().reused(replica(), dpRank(), reuse);
    }
  }

  /** The request ended in one way or another; what is reserved for it is given back. */
  public void finished(Outcome outcome) {
    if (giveBack(outcome)) {
      dispatcher.freed();
    }
  }

  /** The same, but nobody who waits gets the place yet. */
  boolean giveBack(Outcome outcome) {
    boolean ended = engine.end(reservation, outcome, dispatcher.nanos());
    if (ended) {
      meters().countOutcome(outcome);
      for (DispatchListener listener : dispatcher.listeners()) {
        listener.finished(this, outcome);
      }
    }
    return ended;
  }
}
