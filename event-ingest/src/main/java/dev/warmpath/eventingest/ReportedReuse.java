package dev.warmpath.eventingest;

import dev.warmpath.kvindex.block.BlockChain;

/**
 * What an engine said of its cache in an answer: vLLM's {@code cached_tokens}.
 *
 * @param prompt the request's blocks, in the engine's space
 * @param cachedTokens how many of its tokens the engine reused
 * @param predictedTokens how many the index had shown, or −1 if it was not believed
 * @param dispatchedNanos when the request was dispatched, by the clock that durations of its stream
 *     are measured with
 */
public record ReportedReuse(
    BlockChain prompt, int cachedTokens, int predictedTokens, long dispatchedNanos) {

  /** Whether the engine reused less than the index had shown. */
  public boolean isShort() {
    return cachedTokens < predictedTokens;
  }
}
