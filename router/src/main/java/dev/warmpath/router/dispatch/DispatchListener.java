package dev.warmpath.router.dispatch;

import dev.warmpath.router.fleet.Outcome;

/**
 * Hears what the dispatcher does with each request. Called on the caller's thread under no engine's
 * lock; implementations are thread-safe, fast and throw nothing.
 *
 * <p>Thread-safe.
 */
public interface DispatchListener {

  /** A request was given to an engine, and is not sent there yet. */
  default void assigned(PreparedRequest request, Assignment assignment) {}

  /** A stream brought its first content: the prompt has been computed. */
  default void prefilled(Assignment assignment) {}

  /** The engine reported how long the prompt was and how much of it it did not compute. */
  default void reported(Assignment assignment, int promptTokens, int cachedTokens) {}

  /**
   * The engine counts the tokens of a prompt otherwise than the router: the two do not tokenize
   * alike, and nothing known about such prompts is right.
   */
  default void miscounted(Assignment assignment, int routerTokens, int engineTokens) {}

  /** A request ended. */
  default void finished(Assignment assignment, Outcome outcome) {}
}
