package dev.warmpath.router.doctor;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import org.jspecify.annotations.Nullable;

/**
 * How one engine's event stream and replay behaved.
 *
 * @param source where it was looked for
 * @param portProblem why its port cannot be reached; null if it can, or nobody can say
 * @param replayProblem the same of its replay port
 * @param boundEndpoint where this side listens for the engine; null if it does not
 * @param connected whether a publisher has shaken hands
 * @param batches heard live
 * @param replay what its replay socket answered; null if it was not asked
 * @param status how the stream stood in the end
 */
record StreamFacts(
    EngineSource source,
    @Nullable String portProblem,
    @Nullable String replayProblem,
    @Nullable String boundEndpoint,
    boolean connected,
    long batches,
    @Nullable ReplayFacts replay,
    EngineStatus status) {

  /**
   * The answer to one question for everything from the first batch on.
   *
   * @param whole whether it came with its end
   * @param batches how many came
   * @param firstSequence number of the first one, −1 if none came
   * @param firstSeconds the engine's clock when it published that, seconds since 1970; NaN if it
   *     does not say
   */
  public record ReplayFacts(boolean whole, long batches, long firstSequence, double firstSeconds) {}

  /** How often this happened, by a counter's label. */
  public long count(String label) {
    return status.counters().getOrDefault(label, 0L);
  }
}
