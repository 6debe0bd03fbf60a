package dev.warmpath.router.dispatch;

import java.util.Locale;

/**
 * What became of a request: an {@link Assignment}, a place in the queue, or no replica for it.
 *
 * <p>Thread-safe.
 */
public sealed interface DispatchResult
    permits Assignment, DispatchResult.Queued, DispatchResult.NoCandidate {

  /** All replicas that could take the request are full: it waits for one. */
  sealed interface Queued extends DispatchResult permits WaitingRequests.Entry {

    /** Waits no more; false if the result was given or is being given. */
    boolean withdraw();
  }

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
    /** Its health checks fail. It is still taken where no replica is well. */
    DOWN,
    /** Requests wait there and nothing moves. It is still taken where no replica is well. */
    STUCK,
    /** Its engines sleep. It is still taken where no replica is well. */
    ASLEEP,
    /** It has failed this request already. */
    EXCLUDED,
    /** It has as many requests in flight as it may. */
    FULL,
    /** It has room, but would evict what others need sooner. */
    HELD,
    /** So it has, and too many requests wait for it. */
    QUEUE_FULL,
    /** It failed too many requests just now; it is still taken where there is nobody else. */
    EJECTED,
    /** None was chosen: a bug of the router. */
    FAILURE;

    /** The name in metrics and answers: lower case with underscores. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
