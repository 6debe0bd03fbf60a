package dev.warmpath.kvindex.stopped;

import java.util.List;

/**
 * An index in some state, one question, and something that is written.
 *
 * <p>Confined to one thread.
 */
public interface Scene {

  /** The tokens that each slot reuses of the question, as the index is now. */
  List<Integer> ask();

  /** To be called once. */
  void write();
}
