package dev.warmpath.simulator.demo;

import org.jspecify.annotations.Nullable;

/**
 * What came back for one request.
 *
 * @param replica who served it, as the router says; null if nobody says
 * @param promptTokens as the engine counts them
 * @param cachedTokens of these, reused by the engine; -1 when it does not say
 * @param predictedTokens what the router expected to be reused; -1 when it does not say
 * @param firstTokenMillis from sending to the first text; negative without any
 * @param tokenMillis mean time between two tokens of the answer; NaN if there were no two
 * @param error what went wrong, or null
 */
public record ChatReply(
    @Nullable String replica,
    int promptTokens,
    int cachedTokens,
    int predictedTokens,
    double firstTokenMillis,
    double tokenMillis,
    String text,
    @Nullable String error) {

  /** A request that was not served. */
  static ChatReply failed(String error) {
    return new ChatReply(null, 0, -1, -1, -1, Double.NaN, "", error);
  }

  /** Whether there is a prediction and a truth to compare. */
  public boolean comparable() {
    return error == null && cachedTokens >= 0 && predictedTokens >= 0;
  }

  /** Whether the engine reused less than the router expected. */
  public boolean promisedTooMuch() {
    return comparable() && predictedTokens > cachedTokens;
  }
}
