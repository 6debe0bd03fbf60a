package dev.warmpath.simulator.live.event;

import dev.warmpath.kvindex.block.PromptKeys;

/**
 * One sequence of tokens to serve.
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
public record TokenRequest(
    String id, int[] prompt, int[] answer, PromptKeys keys, boolean readsCache, boolean reports) {

  public TokenRequest {
    if (prompt.length == 0 || answer.length == 0) {
      throw new IllegalArgumentException(
          "promptTokens=" + prompt.length + " answerTokens=" + answer.length);
    }
  }

  /** One that announces only what is new. */
  public TokenRequest(String id, int[] prompt, int[] answer, PromptKeys keys, boolean readsCache) {
    this(id, prompt, answer, keys, readsCache, false);
  }
}
