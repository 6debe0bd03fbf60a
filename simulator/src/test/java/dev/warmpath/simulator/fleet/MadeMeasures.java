package dev.warmpath.simulator.fleet;

/** Measures made by hand. */
public final class MadeMeasures {

  private final Measures measures;
  private int next;

  public MadeMeasures(int requests) {
    measures = new Measures(requests);
  }

  /**
   * One that was answered, a quarter of what it reused from the host's memory; a time of NaN
   * between tokens if it had one token only.
   */
  public MadeMeasures answered(
      double seconds, int prompt, int engine, int predicted, int cached, double ttft, double tpot) {
    measures.arrived(next, seconds, prompt);
    measures.assigned(next, engine, predicted, false);
    measures.first(next, ttft, cached, cached / 4, 0);
    measures.ended(next, tpot, 2);
    next++;
    return this;
  }

  public MadeMeasures rejected(double seconds, int prompt) {
    measures.arrived(next, seconds, prompt);
    measures.rejected(next);
    next++;
    return this;
  }

  /** One that never arrived. */
  public MadeMeasures missing() {
    next++;
    return this;
  }

  public Measures done() {
    if (next != measures.requests()) {
      throw new IllegalStateException("next=" + next);
    }
    return measures;
  }
}
