package dev.warmpath.router.members;

import org.jspecify.annotations.Nullable;

/**
 * How a source stands.
 *
 * <p>Immutable.
 *
 * @param problem why its last look failed; null if it did not
 * @param goodSeconds since its last good look, or since its start if there was none
 * @param failures looks that failed since the start
 * @param replicas found by the last good look
 * @param refused addresses of the last good look that made no replica
 */
public record SourceStatus(
    String source,
    @Nullable String problem,
    double goodSeconds,
    long failures,
    int replicas,
    int refused) {}
