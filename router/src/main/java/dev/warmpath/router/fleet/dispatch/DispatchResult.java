package dev.warmpath.router.fleet.dispatch;

import java.util.Locale;

/** What became of a request: an {@link Assignment}, or no replica for it. Thread-safe. */
public sealed interface DispatchResult permits Assignment, DispatchResult.NoCandidate {

  /** Nobody can take the request now; {@code cause} is that of the replica that came nearest. */
  record NoCandidate(Cause cause) implements DispatchResult {}

  /** Why a replica cannot take a request, from the farthest off to the nearest. */
  enum Cause {
    /** There is no replica at all. */
    NO_REPLICA,
    /** It does not serve the model. */
    UNKNOWN_MODEL,
    /** It is draining. */
    DRAINING,
    /** Its health checks fail. */
    DOWN,
    /** It has failed this request already. */
    EXCLUDED,
    /** It has as many requests in flight as it may. */
    FULL,
    /** It failed too many requests just now; it is still taken where there is nobody else. */
    SUSPENDED;

    /** The name in metrics and answers: lower case with underscores. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
