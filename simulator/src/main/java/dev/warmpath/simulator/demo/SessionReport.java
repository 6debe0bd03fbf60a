package dev.warmpath.simulator.demo;

import dev.warmpath.simulator.study.Distribution;

/**
 * What a run of sessions gave.
 *
 * @param lateMillis from the instant at which a request was due until it was sent: how late the
 *     load itself was
 */
public record SessionReport(LoadReport load, Distribution lateMillis) {}
