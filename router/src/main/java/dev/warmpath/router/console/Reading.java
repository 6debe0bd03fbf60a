package dev.warmpath.router.console;

import dev.warmpath.router.console.Totals.HitRateCounts;
import java.util.Map;

/**
 * What was counted since the start, and how things stand, at one moment. Only what replicas that
 * left had counted in the end may be missing.
 *
 * <p>Immutable.
 *
 * @param nanos when, by the process' clock for durations
 * @param requests that ended
 * @param refusals errors of the router itself, by code
 * @param picks requests given to engines, by reason
 * @param uncached prompt tokens that engines computed, by why they were not cached
 * @param engines the engines of the fleet, by name
 */
record Reading(
    long nanos,
    double requests,
    Map<String, Double> refusals,
    Map<String, Double> picks,
    Map<String, Double> uncached,
    Tokens tokens,
    Latencies firstBytes,
    Latencies interTokens,
    Events events,
    Load load,
    Map<String, HitRateCounts> engines) {

  Reading {
    refusals = Map.copyOf(refusals);
    picks = Map.copyOf(picks);
    uncached = Map.copyOf(uncached);
    engines = Map.copyOf(engines);
  }

  /**
   * Tokens of prompts, of engines that report cached ones.
   *
   * @param prefillMillis what the cached ones would have cost by the learned speeds
   */
  record Tokens(double prompt, double cached, double prefillMillis) {}

  /**
   * The engines' event streams.
   *
   * @param lagMillis the longest now; NaN without streams
   */
  record Events(double lagMillis, double gaps, double replays) {}

  /** Requests at engines and in the queue now. */
  record Load(int inFlight, int queued) {}
}
