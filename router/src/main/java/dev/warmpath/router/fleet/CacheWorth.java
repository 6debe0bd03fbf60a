package dev.warmpath.router.fleet;

/**
 * What would be lost with an engine: what only it holds.
 *
 * <p>Immutable.
 *
 * @param soleTokens tokens that no other engine holds, nor a store that engines share
 * @param reuseChance how likely a token of its cache is used again, 0 to 1: the least of what the
 *     policies of its models have learned; 1 if none has
 * @param seconds how long an engine as fast as it computes these tokens, weighed by the chance, at
 *     the begin of prompts
 */
public record CacheWorth(long soleTokens, double reuseChance, double seconds) {}
