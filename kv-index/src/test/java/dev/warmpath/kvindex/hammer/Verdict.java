package dev.warmpath.kvindex.hammer;

import java.util.Optional;

/**
 * What readers saw.
 *
 * <p>Immutable.
 *
 * @param overlapping queries during which the writer was at work
 * @param silent queries that credited nobody because the writer left them no time
 * @param wrongAnswer the first answer that belongs to no state, in words
 */
record Verdict(int queries, int overlapping, int silent, Optional<String> wrongAnswer) {

  static final Verdict NONE = new Verdict(0, 0, 0, Optional.empty());

  Verdict and(Verdict other) {
    return new Verdict(
        queries + other.queries,
        overlapping + other.overlapping,
        silent + other.silent,
        wrongAnswer.or(other::wrongAnswer));
  }
}
