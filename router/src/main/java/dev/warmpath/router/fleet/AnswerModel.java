package dev.warmpath.router.fleet;

import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.DecodeCost;
import dev.warmpath.router.routing.RoutingRequest;

/**
 * Learns how long the fleet's answers take, and says what one costs at an engine: its own time
 * there, and that by which it makes others' steps longer.
 *
 * <p>Thread-safe.
 */
public final class AnswerModel {

  /*
   * An answer of n tokens takes n steps, each as long as DecodeModel has learned of its engine; while
   * the engine computes prompts, for the share u of its time, none goes on:
   *
   *   n · step / (1 − u)
   *
   * n is learned from the time of each stream from its first token to its end.
   */

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
   * @param cost of the engine's steps
   * @param contextTokens of its requests in flight
   */
  synchronized void observe(
      double millis, double prefillShare, DecodeCost cost, long contextTokens) {
    double seen = millis * (1 - prefillShare) / cost.millis(contextTokens);
    steps += RATE * (Math.min(seen, MOST_TIMES * steps) - steps);
  }

  /**
   * An answer's part of the steps of an engine whose memory is full of such requests, in
   * milliseconds.
   *
   * @param cost of the engine's steps
   * @param contextTokens of the request, on average over its answer
   * @param capacityTokens that the engine's memory holds; 0 if it is not known
   */
  static double fullMillis(
      DecodeCost cost, int answerTokens, int contextTokens, long capacityTokens) {
    double share = cost.stepMillis() / streams(contextTokens, capacityTokens);
    return answerTokens * (share + cost.contextMillis() * contextTokens);
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
    DecodeCost cost = rows.decodeCost(row);
    double ofOthers = cost.contextMillis() * rows.running(row) * request.knownTokens();
    return steps * (cost.millis(rows.contextTokens(row)) + ofOthers) / (1 - prefillShare);
  }
}
