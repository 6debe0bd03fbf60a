package dev.warmpath.router.routing;

/**
 * Chooses the engine for a request.
 *
 * <p>A policy is a pure function of its arguments: what it must remember, such as whose turn it
 * was, is in the candidates, and what it needs of chance is the request's {@linkplain
 * RoutingRequest#draw() draw}. So a decision can be asked for without being made, and the same
 * arguments always give the same decision.
 *
 * <p>Thread-safe.
 */
public interface Policy {

  /** The name under which users know it, in lower case with hyphens. */
  String name();

  /** The row of the candidate that gets the request; there is at least one, in any order. */
  int choose(RoutingRequest request, Candidates candidates);

  /** Why {@code winner} was chosen, out of a small set of words that can label a metric. */
  String reason(RoutingRequest request, Candidates candidates, int winner);

  /** What choosing a candidate costs, spelled out; the winner's total is the lowest. */
  Score score(RoutingRequest request, Candidates candidates, int row);
}
