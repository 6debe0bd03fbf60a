package dev.warmpath.router.routing;

/**
 * Chooses the engine for a request.
 *
 * <p>A choice changes nothing: whose turn it was is in the candidates, and what a policy needs of
 * chance is the request's {@linkplain RoutingRequest#draw() draw}. What else it remembers changes
 * in {@link #committed} alone, and has a documented bound. So a decision can be asked for without
 * being made, and the same arguments give the same decision until the next one is committed.
 *
 * <p>Thread-safe.
 */
public interface Policy {

  /** A note of nothing. */
  long[] NOTHING = {};

  /** The name under which users know it, in lower case with hyphens. */
  String name();

  /** The row of the candidate that gets the request; there is at least one, in any order. */
  int choose(RoutingRequest request, Candidates candidates);

  /** Why {@code winner} was chosen, out of a small set of words that can label a metric. */
  String reason(RoutingRequest request, Candidates candidates, int winner);

  /** What choosing a candidate costs, spelled out; the winner's total is the lowest, or nearly. */
  Score score(RoutingRequest request, Candidates candidates, int row);

  /**
   * Whether {@code winner} should not get the request yet, as it costs others more there than it is
   * worth now. It is asked again whenever a prompt is computed or a request is over.
   *
   * @param heldTokens prompt tokens of others that wait for this reason
   */
  default boolean holds(
      RoutingRequest request, Candidates candidates, int winner, long heldTokens) {
    return false;
  }

  /**
   * {@code winner} was chosen and load is reserved there: remembers what later choices need. Other
   * threads may choose between the reservation and this call, and do not know of it then.
   *
   * @param candidates as they were at the choice
   * @return what another router must {@link #remember} to know as much: few numbers that mean the
   *     same in every process; empty if that is nothing
   */
  default long[] committed(RoutingRequest request, Candidates candidates, int winner) {
    return NOTHING;
  }

  /**
   * Another router's policy of this kind has chosen.
   *
   * @param note what its {@link #committed} returned
   * @param engine the chosen one's {@linkplain Candidates#number number} here
   */
  default void remember(long[] note, int engine) {}

  /**
   * How likely a token of an engine's cache is used again, 0 to 1; 1 if the policy does not learn
   * that.
   *
   * @param engine its {@linkplain Candidates#number number}
   */
  default double reuseChance(int engine, long nowNanos) {
    return 1;
  }

  /**
   * By how much the share of prompt tokens that are cached would change if each of these engines
   * was used by so much less, as in a fleet that is so many times as large; NaN if the policy does
   * not learn that, or has not yet.
   *
   * @param engines their {@linkplain Candidates#number numbers}
   * @param times above 0
   */
  default double hitRateChange(int[] engines, double times, long nowNanos) {
    return Double.NaN;
  }

  /** Whether {@link #committed} remembers anything. */
  default boolean remembers() {
    return false;
  }

  /** The part of the room for what it remembers that is taken, 0 to 1; then the oldest goes. */
  default double memoryShare() {
    return 0;
  }
}
