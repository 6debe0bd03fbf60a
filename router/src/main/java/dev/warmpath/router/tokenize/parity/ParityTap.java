package dev.warmpath.router.tokenize.parity;

import dev.warmpath.router.fleet.dispatch.Assignment;
import dev.warmpath.router.fleet.dispatch.DispatchListener;
import dev.warmpath.router.fleet.dispatch.DispatchRequest;
import dev.warmpath.router.fleet.dispatch.DispatchResult;
import dev.warmpath.router.fleet.dispatch.Outcome;
import dev.warmpath.router.routing.Decision;
import dev.warmpath.router.tokenize.parity.RecentBodies.Body;

/**
 * Looks into every prompt whose length an engine counts otherwise, and passes on what it hears.
 *
 * <p>Thread-safe.
 */
final class ParityTap implements DispatchListener {

  private final DispatchListener next;
  private final ParityWatch watch;
  private final RecentBodies bodies;

  ParityTap(DispatchListener next, ParityWatch watch, RecentBodies bodies) {
    this.next = next;
    this.watch = watch;
    this.bodies = bodies;
  }

  @Override
  public void assigned(
      DispatchRequest request, String policy, Decision decision, Assignment assignment) {
    if (request.prompt() != null) {
      Body body = bodies.take(request.prompt());
      if (body != null) {
        bodies.put(assignment, body);
      }
    }
    next.assigned(request, policy, decision, assignment);
  }

  @Override
  public void miscounted(Assignment assignment, int routerTokens, int engineTokens) {
    Body body = bodies.take(assignment);
    if (body != null) {
      watch.miscounted(body, assignment.replica());
    }
    next.miscounted(assignment, routerTokens, engineTokens);
  }

  @Override
  public void finished(Assignment assignment, Outcome outcome) {
    bodies.take(assignment);
    next.finished(assignment, outcome);
  }

  @Override
  public void unassigned(DispatchResult.Cause cause) {
    next.unassigned(cause);
  }

  @Override
  public void fallback(String cause) {
    next.fallback(cause);
  }

  @Override
  public void reported(Assignment assignment, int promptTokens, int cachedTokens) {
    next.reported(assignment, promptTokens, cachedTokens);
  }

  @Override
  public void compared(Assignment assignment, int predictedTokens, int actualTokens) {
    next.compared(assignment, predictedTokens, actualTokens);
  }
}
