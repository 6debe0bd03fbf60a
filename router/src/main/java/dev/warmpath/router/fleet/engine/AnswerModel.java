package dev.warmpath.router.fleet.engine;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.RoutingRequest;

/**
 * Learns how long the fleet's answers take, and says what one costs at an engine: its own time
 * there, and that by which it makes others' steps longer.
 *
 * <p>Thread-safe.
 */
public final class AnswerModel {

  /*
   * An answer of n tokens takes n steps. A step takes STEP_MILLIS, and CONTEXT_MILLIS for each token
   * of the requests in flight; while the engine computes prompts, for the share u of its time, none
   * goes on:
   *
   *   n · step / (1 − u)
   *
   * n is learned from the time of each stream from its first token to its end, as if steps took
   * STEP_MILLIS. Where they are faster n comes out smaller, and the product is right all the same.
   */

  private static final double STEP_MILLIS = 15;
  private static final double CONTEXT_MILLIS = 3.4e-5;
  private static final double FIRST_STEPS = 200;
  private static final double RATE = 0.02;

  /** A stream that takes longer may have a client that reads slowly. */
  private static final double MOST_TIMES = 4;

  /** Requests that engines run at once by themselves: vLLM's {@code max_num_seqs}. */
  private static final int MOST_STREAMS = 256;

  private volatile double steps = FIRST_STEPS;

  /**
   * A stream ended.
   *
   * @param millis since its first token
   * @param prefillShare of the engine's time, that went into prompts
   * @param contextTokens of its requests in flight
   * @return how many steps it has taken, as if they took as long as here
   */
  synchronized double observe(double millis, double prefillShare, long contextTokens) {
    double step = STEP_MILLIS + CONTEXT_MILLIS * contextTokens;
    double seen = millis * (1 - prefillShare) / step;
    steps = moved(steps, seen);
    return seen;
  }

  /** A little of the way to what was seen. */
  static double moved(double known, double seen) {
    return known + RATE * (Math.min(seen, MOST_TIMES * known) - known);
  }

  /**
   * An answer's part of the steps of an engine whose memory is full of such requests, in
   * milliseconds, as if its steps took as long as here.
   *
   * @param contextTokens of the request, on average over its answer
   * @param capacityTokens that the engine's memory holds; 0 if it is not known
   */
  static double fullMillis(int answerTokens, int contextTokens, long capacityTokens) {
    double share = STEP_MILLIS / streams(contextTokens, capacityTokens);
    return answerTokens * (share + CONTEXT_MILLIS * contextTokens);
  }

  /** How many requests a full engine runs at once. */
  public static long streams(int contextTokens, long capacityTokens) {
    return capacityTokens == 0
        ? MOST_STREAMS
        : Math.max(1, Math.min(MOST_STREAMS, capacityTokens / Math.max(1, contextTokens)));
  }

  /**
   * What an answer to {@code request} costs at an engine, in milliseconds.
   *
   * @param prefillShare of the engine's time, that goes into prompts
   */
  public double millis(RoutingRequest request, Candidates rows, int row, double prefillShare) {
    double own = STEP_MILLIS + CONTEXT_MILLIS * rows.contextTokens(row);
    double ofOthers = CONTEXT_MILLIS * rows.running(row) * request.knownTokens();
    return steps * (own + ofOthers) / (1 - prefillShare);
  }
}
