package dev.warmpath.simulator.bench.beside;

import dev.warmpath.simulator.statistics.Percentiles;

/**
 * What one peer did in one round.
 *
 * <p>Immutable.
 *
 * @param exact whether its answers summed up to what they should
 * @param blocksPerCpuSecond CPU time of its whole process
 */
public record PeerFigures(
    boolean exact,
    double blocksPerSecond,
    double blocksPerCpuSecond,
    Percentiles queryFinalNanos,
    Percentiles queryInterleavedNanos,
    double bytesPerMembership) {}
