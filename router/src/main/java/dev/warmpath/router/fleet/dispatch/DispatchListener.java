package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.router.routing.Decision;

/**
 * Hears what the dispatcher does, for metrics. Called on the caller's thread outside all locks;
 * implementations are thread-safe, fast and throw nothing.
 *
 * <p>Thread-safe.
 */
public interface DispatchListener {

  /** Hears nothing. */
  DispatchListener NONE = new DispatchListener() {};

  /** A request was given to an engine by {@code policy}, and is not sent there yet. */
  default void assigned(
      DispatchRequest request, String policy, Decision decision, Assignment assignment) {}

  /** Nobody could take a request. */
  default void unassigned(DispatchResult.Cause cause) {}

  /**
   * A request was routed without its prompt.
   *
   * @param cause {@code no_prompt}, or the label of the reason why the prompt is not exact
   */
  default void fallback(String cause) {}

  /** The engine reported how long the prompt was and how much of it it did not compute. */
  default void reported(Assignment assignment, int promptTokens, int cachedTokens) {}

  /** The engine reported its cached tokens for a request that had a prediction. */
  default void compared(Assignment assignment, int predictedTokens, int actualTokens) {}

  /**
   * The engine counts the tokens of a prompt otherwise than the router: the two do not tokenize
   * alike, and nothing known about such prompts is right.
   */
  default void miscounted(Assignment assignment, int routerTokens, int engineTokens) {}

  /** A request ended. */
  default void finished(Assignment assignment, Outcome outcome) {}
}
