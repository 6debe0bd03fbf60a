package dev.warmpath.router.tokenize;

import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.tokenize.RecentBodies.Body;

/**
 * Looks into every prompt whose length an engine counts otherwise.
 *
 * <p>Thread-safe.
 */
final class ParityTap implements DispatchListener {

  private final ParityWatch watch;
  private final RecentBodies bodies;

  ParityTap(ParityWatch watch, RecentBodies bodies) {
    this.watch = watch;
    this.bodies = bodies;
  }

  @Override
  public void assigned(PreparedRequest request, Assignment assignment) {
    Body body = bodies.take(request.prompt());
    if (body != null) {
      bodies.put(assignment, body);
    }
  }

  @Override
  public void miscounted(Assignment assignment, int routerTokens, int engineTokens) {
    Body body = bodies.take(assignment);
    if (body != null && assignment.images() == null) {
      watch.miscounted(body, assignment.replica());
    }
  }

  @Override
  public void finished(Assignment assignment, Outcome outcome) {
    bodies.take(assignment);
  }
}
