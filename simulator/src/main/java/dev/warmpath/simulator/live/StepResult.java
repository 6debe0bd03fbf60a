package dev.warmpath.simulator.live;

import java.util.List;

/**
 * What one step brought: tokens for its requests, in scheduling order, and the cache events to
 * publish as one batch.
 */
public record StepResult(List<Token> tokens, List<CacheEvent> events) {

  public StepResult {
    tokens = List.copyOf(tokens);
    events = List.copyOf(events);
  }

  /**
   * One generated token.
   *
   * @param index position in the answer; 0 is the first token
   * @param cachedTokens prompt tokens reused when the request was first scheduled
   * @param externalTokens those of them that came from host memory or another engine
   */
  public record Token(
      String requestId,
      int tokenId,
      int index,
      int cachedTokens,
      int externalTokens,
      boolean last) {}
}
