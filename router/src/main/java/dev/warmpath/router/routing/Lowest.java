package dev.warmpath.router.routing;

import java.util.function.IntToDoubleFunction;

/** Finds the candidate with the lowest score. */
public final class Lowest {

  private Lowest() {}

  /**
   * The row with the lowest score. Of equal ones it is the one whose last turn is longest ago, and
   * of those that never had one the request's draw decides: no candidate is preferred for its place
   * among the rows.
   *
   * @param score of a row; asked once for each
   */
  public static int of(RoutingRequest request, Candidates candidates, IntToDoubleFunction score) {
    int count = candidates.count();
    double[] scores = candidates.scores();
    for (int row = 0; row < count; row++) {
      scores[row] = score.applyAsDouble(row);
    }
    int best = (int) Long.remainderUnsigned(request.draw(), count);
    for (int row = best + 1, step = 1; step < count; row++, step++) {
      int next = row < count ? row : row - count;
      int order = Double.compare(scores[next], scores[best]);
      boolean earlier = candidates.lastTurn(next) < candidates.lastTurn(best);
      if (order < 0 || (order == 0 && earlier)) {
        best = next;
      }
    }
    return best;
  }
}
