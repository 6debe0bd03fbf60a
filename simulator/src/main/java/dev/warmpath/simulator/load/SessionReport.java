package dev.warmpath.simulator.load;

import dev.warmpath.simulator.statistics.Distribution;

/**
 * What a run of sessions gave.
 *
 * @param lateMillis from the instant at which a request was due until it was sent: how late the
 *     load itself was
 */
public record SessionReport(LoadReport load, Distribution lateMillis) {}
