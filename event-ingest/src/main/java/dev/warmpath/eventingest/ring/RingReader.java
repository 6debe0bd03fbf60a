package dev.warmpath.eventingest.ring;

/**
 * Who takes what waits in the rings.
 *
 * <p>Thread-safe.
 */
public interface RingReader {

  /** There is something in a ring that is not known to have something. */
  void ready(EngineRing ring);

  /** What waits, shall not wait until the reader wakes by itself. */
  void wake();
}
