package dev.warmpath.simulator.engine;

import dev.warmpath.simulator.engine.cache.CachedSequence;

/**
 * One request on its way through the engine.
 *
 * <p>Single writer.
 */
final class Sequence {

  static final int NOT_SCHEDULED = -1;

  final EngineRequest request;
  final CachedSequence cached;
  int computedTokens;
  int cachedTokens = NOT_SCHEDULED;

  Sequence(EngineRequest request, CachedSequence cached) {
    this.request = request;
    this.cached = cached;
  }

  int generated() {
    return cached.length() - request.prompt().length;
  }

  boolean complete() {
    return generated() == request.answer().length;
  }

  /** Tokens that are there but not yet computed. */
  int pendingTokens() {
    return cached.length() - computedTokens;
  }
}
