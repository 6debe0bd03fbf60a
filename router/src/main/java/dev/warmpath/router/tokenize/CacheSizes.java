package dev.warmpath.router.tokenize;

import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.RouterConfig;

/**
 * Sizes of the caches of prompts: a quarter of all for bodies, the rest in equal parts for the
 * texts of each tokenizer.
 *
 * <p>Immutable.
 *
 * @param bodyBytes for bodies of all models
 * @param tokenizerBytes for the texts of one tokenizer
 */
public record CacheSizes(long bodyBytes, long tokenizerBytes) {

  private static final int BODIES_SHARE = 4;

  /** The shares of {@code config}. */
  public static CacheSizes of(RouterConfig config) {
    return of(MemoryBudget.of(config).cacheBytes(), LoadedTokenizers.count(config));
  }

  static CacheSizes of(long all, int tokenizers) {
    long bodies = all / BODIES_SHARE;
    return new CacheSizes(bodies, (all - bodies) / Math.max(1, tokenizers));
  }
}
