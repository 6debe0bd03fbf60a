package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.KvIndex;

/**
 * What can be known of the engines' caches: the index, how each engine stands in it, and who learns
 * from what the engines answer.
 *
 * <p>Immutable.
 */
public record Knowledge(KvIndex index, EngineViews views, EngineFeedback feedback) {

  /** From which nobody learns. */
  public Knowledge(KvIndex index, EngineViews views) {
    this(index, views, EngineFeedback.NONE);
  }
}
