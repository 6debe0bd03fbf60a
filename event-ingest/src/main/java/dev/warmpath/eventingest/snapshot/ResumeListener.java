package dev.warmpath.eventingest.snapshot;

/**
 * Hears, once, whether the engine is still the one that a restored stream knew.
 *
 * <p>Implementations are called by the writer only.
 */
public interface ResumeListener {

  /** It was decided: kept, suspended, or forgotten for this reason. */
  void decided(EngineFate fate, String why);
}
