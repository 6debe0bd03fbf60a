package dev.warmpath.simulator.fleet;

/**
 * Something that happens to an engine while a fleet runs.
 *
 * @param seconds when, since the run began
 * @param engine its number
 * @param factor how many times slower it is from then on, for {@link Kind#SLOW}
 */
public record Incident(double seconds, int engine, Kind kind, double factor) {

  /** What happens. */
  public enum Kind {
    /** Its process ends: what it serves fails, its cache is gone, its health checks fail. */
    FAIL,
    /** It is there again, or for the first time: well, empty, at its usual speed. */
    RECOVER,
    /** It is slower from now on. */
    SLOW,
    /** It gets no new requests. */
    LEAVE,
    /** Its events are not heard any more, and nobody notices. */
    DEAF,
    /** It refuses each request at once with an error of its own. */
    BLACK_HOLE,
    /** The router forgets what it knew of it, as after a start without a snapshot. */
    FORGOTTEN
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
