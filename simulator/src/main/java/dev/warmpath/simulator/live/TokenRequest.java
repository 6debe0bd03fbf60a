package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.simulator.engine.EngineRequest;
import dev.warmpath.simulator.engine.EngineRequest.Transfer;

/**
 * One sequence of tokens to serve.
 *
 * <p>Immutable; the arrays are not copied and must not change.
 *
 * @param prompt at least one token
 * @param answer what the engine is going to generate, at least one token
 * @param readsCache false for requests that must compute their whole prompt (prompt log
 *     probabilities)
 * @param transfer what comes from, or goes to, another engine
 * @param mostLoadTokens it loads from host memory at most
 */
@SuppressWarnings("ArrayRecordComponent") // prompts are long and never compared
public record TokenRequest(
    String id,
    int[] prompt,
    int[] answer,
    PromptKeys keys,
    boolean readsCache,
    Transfer transfer,
    int mostLoadTokens) {

  public TokenRequest {
    if (prompt.length == 0 || answer.length == 0) {
      throw new IllegalArgumentException(
          "promptTokens=" + prompt.length + " answerTokens=" + answer.length);
    }
  }

  /** The same with something to do for another engine. */
  public TokenRequest with(Transfer transfer) {
    return new TokenRequest(id, prompt, answer, keys, readsCache, transfer, mostLoadTokens);
  }

  /** The same with this cap on what it loads. */
  public TokenRequest loading(int mostTokens) {
    return new TokenRequest(id, prompt, answer, keys, readsCache, transfer, mostTokens);
  }

  /** One that a single engine serves. */
  public TokenRequest(String id, int[] prompt, int[] answer, PromptKeys keys, boolean readsCache) {
    this(id, prompt, answer, keys, readsCache, Transfer.NONE, EngineRequest.NO_CAP);
  }
}
