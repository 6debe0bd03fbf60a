package dev.warmpath.router.routing;

import java.util.List;

/**
 * What choosing one candidate costs: the lower, the better. The total is the sum of its terms.
 *
 * <p>Immutable.
 *
 * @param terms the named parts, in the order of the policy's formula
 */
public record Score(List<Term> terms) {

  /** One named part of a score, finite. */
  public record Term(String name, double value) {
    public Term {
      if (!Double.isFinite(value)) {
        throw new IllegalArgumentException(name + "=" + value);
      }
    }
  }

  public Score {
    terms = List.copyOf(terms);
  }

  /** The score with these terms. */
  public static Score of(Term... terms) {
    return new Score(List.of(terms));
  }

  /** A term, for {@link #of}. */
  public static Term term(String name, double value) {
    return new Term(name, value);
  }

  /** The sum of the terms. */
  public double total() {
    double total = 0;
    for (Term term : terms) {
      total += term.value();
    }
    return total;
  }
}
