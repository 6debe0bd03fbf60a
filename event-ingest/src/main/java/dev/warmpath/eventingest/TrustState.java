package dev.warmpath.eventingest;

/**
 * How far one engine is believed, and why.
 *
 * @param sinceNanos since when, by the stream's clock for durations
 */
public record TrustState(Trust trust, String reason, long sinceNanos) {}
