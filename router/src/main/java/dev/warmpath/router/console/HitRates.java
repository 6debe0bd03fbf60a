package dev.warmpath.router.console;

/**
 * How well an engine's cache and its predictions did in the last minutes; NaN if that is not known.
 *
 * <p>Immutable.
 *
 * @param hitRate cached tokens of its prompts' tokens, as the engine reports them
 * @param predictionError tokens that were predicted or cached and not both, of those that were
 *     either
 */
record HitRates(double hitRate, double predictionError) {

  /** Nothing is known. */
  static final HitRates UNKNOWN = new HitRates(Double.NaN, Double.NaN);
}
