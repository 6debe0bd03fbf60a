package dev.warmpath.router.routing;

import java.util.List;

/**
 * Chooses the replica for a request.
 *
 * <p>A policy is a pure function of its arguments: what it must remember, such as whose turn it
 * was, is told by the candidates, and what it needs of chance is the request's {@linkplain
 * RoutingRequest#draw() draw}. So a decision can be asked for without being made, and the same
 * arguments always give the same decision.
 *
 * <p>Thread-safe.
 */
public interface Policy {

  /** The name under which users know it, in lower case with hyphens. */
  String name();

  /**
   * Chooses one of {@code candidates}, which are at least one and come in any order. The order of
   * the scores is that of the candidates.
   */
  Decision choose(RoutingRequest request, List<Candidate> candidates);
}
