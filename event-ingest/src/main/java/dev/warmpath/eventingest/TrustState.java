package dev.warmpath.eventingest;

import java.time.Instant;

/** How far one engine is believed, why and since when. */
public record TrustState(Trust trust, String reason, Instant since) {}
