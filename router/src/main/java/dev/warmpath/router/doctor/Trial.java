package dev.warmpath.router.doctor;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.router.proxy.Usage;
import org.jspecify.annotations.Nullable;

/**
 * One prompt that was sent twice to one engine, which had never seen it.
 *
 * @param model the model that was asked
 * @param problem why it was not served; null if it was, both times
 * @param status of the answer that was not served; 0 if none came
 * @param promptTokens its length by our tokenizer; 0 if there is none, and nothing was predicted
 * @param first what the first answer told
 * @param second what the second answer told
 * @param events whether any event came on the engine's stream meanwhile
 * @param heldBlocks leading blocks that the engine held by its events before the second request
 * @param predictedTokens what it was predicted to reuse then
 * @param heldBy another engine on whose stream the prompt's blocks came; null if none did
 */
record Trial(
    EngineId engine,
    String model,
    @Nullable String problem,
    int status,
    int promptTokens,
    Usage first,
    Usage second,
    boolean events,
    int heldBlocks,
    int predictedTokens,
    @Nullable EngineId heldBy) {

  /** A trial that was not served. */
  public static Trial failed(EngineId engine, String model, int status, String problem) {
    return new Trial(engine, model, problem, status, 0, Usage.NONE, Usage.NONE, false, 0, 0, null);
  }

  /** Whether a prediction was made and both answers came. */
  public boolean isJudged() {
    return problem == null && promptTokens > 0;
  }
}
