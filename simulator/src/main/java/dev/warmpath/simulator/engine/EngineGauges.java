package dev.warmpath.simulator.engine;

/**
 * The engine's gauges and counters.
 *
 * @param running sequences admitted to the batch
 * @param waiting sequences not yet admitted, or preempted
 * @param cacheUsage share of blocks that requests hold, 0 to 1
 * @param cacheQueriesTokens prompt tokens looked up in GPU memory so far
 * @param cacheHitsTokens prompt tokens found there so far
 * @param hostHitsTokens prompt tokens found in host memory alone so far
 * @param receivedTokens prompt tokens that other engines computed so far
 * @param preemptions sequences that lost their blocks to others so far
 */
public record EngineGauges(
    int running,
    int waiting,
    double cacheUsage,
    long cacheQueriesTokens,
    long cacheHitsTokens,
    long hostHitsTokens,
    long receivedTokens,
    long preemptions) {}
