package dev.warmpath.eventingest.session;

/**
 * Hears, once, whether the engine is still the one that a restored stream knew.
 *
 * <p>Implementations are called by the writer only.
 */
public interface ResumeListener {

  /** What became of a restored stream. */
  enum Outcome {
    /** The engine's process is the same: what was restored is true, and what followed is known. */
    KEPT,
    /**
     * The process is the same, but what it did meanwhile is not known: names are kept, and nothing
     * is credited until it is shown to be there.
     */
    DOUBTED,
    /** It is another process: what was restored is forgotten. */
    OTHER_LIFETIME,
    /** The engine no longer shows the last batch known, so nobody can tell: forgotten as well. */
    OUT_OF_REACH,
    /** Nobody answered: forgotten as well. */
    NO_ANSWER
  }

  /** It was decided. */
  void decided(Outcome outcome, String why);
}
