package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.Trust;
import java.time.Instant;

/**
 * How far one engine is believed, why and since when.
 *
 * <p>Immutable.
 */
public record TrustState(Trust trust, String reason, Instant since) {}
