package dev.warmpath.simulator.engine;

import dev.warmpath.kvindex.block.PromptKeys;

/**
 * One sequence to serve.
 *
 * <p>Immutable; the arrays are not copied and must not change.
 *
 * @param prompt at least one token
 * @param answer what the engine is going to generate, at least one token
 * @param readsCache false for requests that must compute their whole prompt (prompt log
 *     probabilities)
 * @param reports whether a hit is announced again, from the first block on (vLLM's full reports)
 */
@SuppressWarnings("ArrayRecordComponent") // prompts are long and never compared
public record EngineRequest(
    String id, int[] prompt, int[] answer, PromptKeys keys, boolean readsCache, boolean reports) {

  public EngineRequest {
    if (prompt.length == 0 || answer.length == 0) {
      throw new IllegalArgumentException(
          "promptTokens=" + prompt.length + " answerTokens=" + answer.length);
    }
  }

  /** One that announces only what is new. */
  public EngineRequest(String id, int[] prompt, int[] answer, PromptKeys keys, boolean readsCache) {
    this(id, prompt, answer, keys, readsCache, false);
  }
}
