package dev.warmpath.router.routing;

import java.util.function.IntToDoubleFunction;
import java.util.function.IntToLongFunction;

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
    return of(request, candidates, score, row -> 0);
  }

  /**
   * The same, but of equal scores the lowest {@code tie} wins before turns and the draw count.
   *
   * @param tie of a row; asked only where scores are equal
   */
  public static int of(
      RoutingRequest request,
      Candidates candidates,
      IntToDoubleFunction score,
      IntToLongFunction tie) {
    int count = candidates.count();
    double[] scores = candidates.scores();
    for (int row = 0; row < count; row++) {
      scores[row] = score.applyAsDouble(row);
    }
    int best = (int) Long.remainderUnsigned(request.draw(), count);
    for (int row = best + 1, step = 1; step < count; row++, step++) {
      int next = row < count ? row : row - count;
      int order = Double.compare(scores[next], scores[best]);
      if (order < 0 || (order == 0 && precedes(next, best, candidates, tie))) {
        best = next;
      }
    }
    return best;
  }

  private static boolean precedes(
      int next, int best, Candidates candidates, IntToLongFunction tie) {
    int order = Long.compare(tie.applyAsLong(next), tie.applyAsLong(best));
    return order < 0 || (order == 0 && candidates.lastTurn(next) < candidates.lastTurn(best));
  }
}
