package dev.warmpath.eventingest.follow;

/**
 * Reads the rings.
 *
 * <p>Thread-safe.
 */
interface RingReader {

  /** A ring that was empty has something now. */
  void ready(EngineRing ring);

  /** Wakes the reader now. */
  void wake();
}
