package dev.warmpath.router.routing;

/**
 * How a policy ranks the candidates for one request: the lowest cost wins, of equal ones the lowest
 * tie, then as {@link Lowest} says.
 *
 * <p>Confined to one thread.
 */
interface Ranking {

  /** Added to the cost of a candidate that is not to be chosen while there is another. */
  double RULED_OUT = 1e300;

  /** What choosing the candidate costs; finite. */
  double cost(int row);

  /** Decides among equal costs. */
  default long tie(int row) {
    return 0;
  }

  /** The same cost, spelled out. */
  Score score(int row);

  /** Why {@code winner} was chosen, out of a small set of words that can label a metric. */
  String reason(int winner);
}
