package dev.warmpath.router.doctor;

import java.time.Instant;

/**
 * The certificate that a server shows.
 *
 * @param subject whom it is for
 * @param notAfter when it expires
 */
record TlsFacts(String subject, Instant notAfter) {}
