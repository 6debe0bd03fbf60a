package dev.warmpath.router.routing.policy;

import dev.warmpath.router.routing.Candidate;
import dev.warmpath.router.routing.Decision;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import java.util.Collections;
import java.util.List;

/** Any candidate, each as likely as the others. Immutable. */
public final class RandomPolicy implements Policy {

  private static final Score SAME = Score.of();

  @Override
  public String name() {
    return "random";
  }

  @Override
  public Decision choose(RoutingRequest request, List<Candidate> candidates) {
    int winner = (int) Long.remainderUnsigned(request.draw(), candidates.size());
    return new Decision(winner, Collections.nCopies(candidates.size(), SAME), "random");
  }
}
