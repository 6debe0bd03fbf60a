package dev.warmpath.simulator.fleet;

/**
 * Something that happens to an engine while a fleet runs.
 *
 * @param seconds when, since the run began
 * @param engine its number; from the number of the fleet's engines on for those that join; without
 *     effect where the kind chooses
 * @param factor how many times slower it is from then on, for {@link Kind#SLOW}
 */
record Incident(double seconds, int engine, Kind kind, double factor) {

  /** What happens. */
  public enum Kind {
    /** Its process ends: what it serves fails, its cache is gone, its health checks fail. */
    FAIL,
    /** It is there again, or for the first time: well, empty, at its usual speed. */
    RECOVER,
    /** It is slower from now on. */
    SLOW,
    /** It gets no new requests, and is gone for good when those it has are over. */
    LEAVE,
    /** The same, of the one that is of least worth to the first router, whichever it is. */
    LEAST_WORTH_LEAVES,
    /** The same, of the one of most worth. */
    MOST_WORTH_LEAVES,
    /** It comes to the fleet, with nothing in its cache; it was not there before. */
    JOIN,
    /** The same, and the first router lets it compute first what sessions share. */
    JOIN_WARM,
    /** Its events are not heard any more, and nobody notices. */
    DEAF,
    /** It refuses each request at once with an error of its own. */
    BLACK_HOLE,
    /** The router forgets what it knew of it, as after a start without a snapshot. */
    FORGOTTEN
  }

  /** Whether an engine comes to the fleet that was not there. */
  boolean joins() {
    return kind == Kind.JOIN || kind == Kind.JOIN_WARM;
  }

  public Incident {
    if (!(seconds >= 0) || engine < 0 || !(factor > 0)) {
      throw new IllegalArgumentException(
          "seconds=" + seconds + " engine=" + engine + " factor=" + factor);
    }
  }

  public static Incident of(double seconds, int engine, Kind kind) {
    return new Incident(seconds, engine, kind, 1);
  }
}
