package dev.warmpath.router.proxy;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.dispatch.Assignment;
import dev.warmpath.router.fleet.dispatch.DispatchResult;
import dev.warmpath.router.fleet.dispatch.DispatchResult.NoCandidate;
import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The replicas that one request has tried, and which one it tries next.
 *
 * <p>Confined to its event loop.
 */
final class Retries {

  private static final int MOST_DOUBLINGS = 16;

  private final ProxyContext proxy;
  private final Set<String> tried = new HashSet<>();
  private int attempts;

  Retries(ProxyContext proxy) {
    this.proxy = proxy;
  }

  /** The request goes there now. */
  void tries(Assignment assignment) {
    tried.add(assignment.replica().name());
    attempts++;
  }

  /**
   * Another replica for the request, reserved; empty if there is none or it was tried often enough.
   *
   * @param sameAgain whether a replica that was tried may be tried again when no other is left
   */
  Optional<Assignment> next(PreparedRequest request, boolean sameAgain) {
    if (attempts >= proxy.config().retry().attempts() || !proxy.retries().isLeft()) {
      return Optional.empty();
    }
    DispatchResult next = proxy.dispatcher().assign(request, tried);
    if (sameAgain && next instanceof NoCandidate none && isExcluded(none)) {
      tried.clear();
      next = proxy.dispatcher().assign(request, tried);
    }
    return next instanceof Assignment assignment ? Optional.of(assignment) : Optional.empty();
  }

  private static boolean isExcluded(NoCandidate none) {
    return none.cause() == DispatchResult.Cause.EXCLUDED;
  }

  /** Milliseconds to wait before the next attempt, by chance. */
  long backoffMs() {
    RouterConfig.Retry bounds = proxy.config().retry();
    int doublings = Math.min(MOST_DOUBLINGS, attempts - 1);
    long longest = Math.min(bounds.backoffLimitMs(), (long) bounds.backoffMs() << doublings);
    return longest == 0 ? 0 : proxy.random().nextLong(longest + 1);
  }
}
