package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.KvIndex;

/**
 * What can be known of the engines' caches: the index, and how each engine stands in it.
 *
 * <p>Immutable.
 */
public record Knowledge(KvIndex index, EngineViews views) {}
