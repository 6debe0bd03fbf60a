package dev.warmpath.router.doctor;

import org.jspecify.annotations.Nullable;

/**
 * One prompt that neither engine had seen, computed at one replica for another one to answer.
 *
 * @param problem why it was not answered; null if it was
 * @param promptTokens its length, as the engine that answered counts it; below 0 if it does not
 * @param receivedTokens by how much that engine's count of tokens from elsewhere grew; NaN if it
 *     has none
 */
record PairTrial(
    String prefill,
    String decode,
    @Nullable String problem,
    int promptTokens,
    double receivedTokens) {}
