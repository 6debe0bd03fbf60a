package dev.warmpath.router.routing;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Which candidate gets the request, and why.
 *
 * <p>Immutable.
 *
 * @param winner index of the chosen candidate
 * @param scores what each candidate costs, in the order of the candidates
 * @param reason why the winner won, out of a small set of words that can label a metric
 */
public record Decision(int winner, List<Score> scores, String reason) {

  public Decision {
    scores = List.copyOf(scores);
    if (winner < 0 || winner >= scores.size()) {
      throw new IllegalArgumentException("winner=" + winner + " candidates=" + scores.size());
    }
  }

  /**
   * The candidate with the lowest total wins. Of equal ones it is the one whose last turn is
   * longest ago, and of those that never had one the request's draw decides: no candidate is
   * preferred for its place in the list.
   */
  public static Decision cheapest(
      RoutingRequest request,
      List<Candidate> candidates,
      Function<Candidate, Score> cost,
      String reason) {
    List<Score> scores = new ArrayList<>(candidates.size());
    for (Candidate candidate : candidates) {
      scores.add(cost.apply(candidate));
    }
    return new Decision(lowest(request, candidates, scores), scores, reason);
  }

  private static int lowest(
      RoutingRequest request, List<Candidate> candidates, List<Score> scores) {
    int count = candidates.size();
    int start = (int) Long.remainderUnsigned(request.draw(), count);
    int best = start;
    for (int step = 1; step < count; step++) {
      int index = (start + step) % count;
      int order = Double.compare(scores.get(index).total(), scores.get(best).total());
      if (order < 0 || (order == 0 && earlierTurn(candidates.get(index), candidates.get(best)))) {
        best = index;
      }
    }
    return best;
  }

  private static boolean earlierTurn(Candidate one, Candidate other) {
    return one.lastTurn() < other.lastTurn();
  }
}
