package dev.warmpath.router.fleet;

/**
 * What an engine has to do for all its clients, by its own metrics; NaN for what they do not show.
 *
 * <p>Immutable.
 *
 * @param waiting requests in its queue
 * @param running requests that it computes
 * @param kvUse the part of its KV cache that these use, 0 to 1
 */
public record ReportedLoad(double waiting, double running, double kvUse) {

  /** Nothing is known. */
  public static final ReportedLoad UNKNOWN = new ReportedLoad(Double.NaN, Double.NaN, Double.NaN);

  /** The two as one: what is counted adds up, of what is full the fullest counts. */
  public ReportedLoad and(ReportedLoad other) {
    double fuller = Double.isNaN(kvUse) || other.kvUse > kvUse ? other.kvUse : kvUse;
    return new ReportedLoad(sum(waiting, other.waiting), sum(running, other.running), fuller);
  }

  private static double sum(double one, double other) {
    return Double.isNaN(one) ? other : Double.isNaN(other) ? one : one + other;
  }
}
