/** Traces of requests, sent to an OpenTelemetry collector. */
@NullMarked
package dev.warmpath.router.trace;

import org.jspecify.annotations.NullMarked;
