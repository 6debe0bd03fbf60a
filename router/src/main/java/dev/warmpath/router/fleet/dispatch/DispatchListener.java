package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.router.fleet.engine.Outcome;
import dev.warmpath.tokenizer.body.FallbackCause;

/**
 * Hears what the dispatcher does, for metrics. Called on the caller's thread under no engine's
 * lock; implementations are thread-safe, fast and throw nothing.
 *
 * <p>Thread-safe.
 */
public interface DispatchListener {

  /** Ignores everything. */
  DispatchListener NONE = new DispatchListener() {};

  /** Tells both of everything, {@code first} first. */
  static DispatchListener both(DispatchListener first, DispatchListener second) {
    return new Both(first, second);
  }

  /**
   * A request was given to an engine, and is not sent there yet.
   *
   * @param policy the name of the policy that chose
   * @param reason why it chose this one
   */
  default void assigned(
      PreparedRequest request, String policy, String reason, Assignment assignment) {}

  /** Nobody could take a request. */
  default void unassigned(DispatchResult.Cause cause) {}

  /**
   * A request was routed without its prompt.
   *
   * @param cause why its prompt was not used
   */
  default void fallback(FallbackCause cause) {}

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

  /** Two that hear the same. Thread-safe if they are. */
  record Both(DispatchListener first, DispatchListener second) implements DispatchListener {

    @Override
    public void assigned(
        PreparedRequest request, String policy, String reason, Assignment assignment) {
      first.assigned(request, policy, reason, assignment);
      second.assigned(request, policy, reason, assignment);
    }

    @Override
    public void unassigned(DispatchResult.Cause cause) {
      first.unassigned(cause);
      second.unassigned(cause);
    }

    @Override
    public void fallback(FallbackCause cause) {
      first.fallback(cause);
      second.fallback(cause);
    }

    @Override
    public void reported(Assignment assignment, int promptTokens, int cachedTokens) {
      first.reported(assignment, promptTokens, cachedTokens);
      second.reported(assignment, promptTokens, cachedTokens);
    }

    @Override
    public void compared(Assignment assignment, int predictedTokens, int actualTokens) {
      first.compared(assignment, predictedTokens, actualTokens);
      second.compared(assignment, predictedTokens, actualTokens);
    }

    @Override
    public void miscounted(Assignment assignment, int routerTokens, int engineTokens) {
      first.miscounted(assignment, routerTokens, engineTokens);
      second.miscounted(assignment, routerTokens, engineTokens);
    }

    @Override
    public void finished(Assignment assignment, Outcome outcome) {
      first.finished(assignment, outcome);
      second.finished(assignment, outcome);
    }
  }
}
