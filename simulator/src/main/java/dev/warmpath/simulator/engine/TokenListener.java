package dev.warmpath.simulator.engine;

/** Receives the tokens of a step, in scheduling order. Must not call the engine. Single writer. */
@FunctionalInterface
public interface TokenListener {

  /**
   * A token was generated.
   *
   * @param index position in the answer; 0 is the first token
   * @param last whether the request ends with it
   */
  void token(EngineRequest request, int index, boolean last);
}
