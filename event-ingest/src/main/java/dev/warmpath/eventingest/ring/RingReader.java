package dev.warmpath.eventingest.ring;

/**
 * Reads the rings.
 *
 * <p>Thread-safe.
 */
public interface RingReader {

  /** A ring that was empty has something now. */
  void ready(EngineRing ring);

  /** Wakes the reader now. */
  void wake();
}
