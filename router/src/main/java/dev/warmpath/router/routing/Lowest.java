package dev.warmpath.router.routing;

import java.util.Comparator;
import java.util.function.IntToDoubleFunction;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;

/** Finds the candidate with the lowest score. */
final class Lowest {

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

  /**
   * Of the rows that are as good as {@code best}, the one at this router's place: routers that see
   * the same and choose at the same time take different ones. {@code best} for a router alone.
   *
   * @param best what {@link #of} has just found for these candidates
   * @param slack a score higher by so much is as good, if as much of the prompt is held there
   */
  public static int atPlace(RoutingRequest request, Candidates candidates, int best, double slack) {
    if (request.place() == RoutingRequest.ALONE) {
      return best;
    }
    double most = candidates.scores()[best] + slack;
    int credit = candidates.creditTokens(request, best);
    int[] rows =
        IntStream.range(0, candidates.count())
            .filter(row -> candidates.scores()[row] <= most)
            .filter(row -> candidates.creditTokens(request, row) >= credit)
            .boxed()
            .sorted(Comparator.comparing(candidates::name)) // alike in all routers
            .mapToInt(row -> row)
            .toArray();
    return rows[(int) (request.place() * rows.length)];
  }

  private static boolean precedes(
      int next, int best, Candidates candidates, IntToLongFunction tie) {
    int order = Long.compare(tie.applyAsLong(next), tie.applyAsLong(best));
    return order < 0 || (order == 0 && candidates.lastTurn(next) < candidates.lastTurn(best));
  }
}
