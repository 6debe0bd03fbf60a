/**
 * Recorded workloads: when requests came, how long they were, and which prefixes they share.
 *
 * <pre>{@code
 * file ─▶ TraceFile ─▶ TraceFormat's reader (…Lines) ─▶ TraceBuilder ─▶ Trace
 * }</pre>
 *
 * <p>Start with {@link Trace}: requests in columns, prompts as numbers of blocks, equal numbers for
 * equal prefixes. A new format is a constant of {@link TraceFormat} and a reader of its lines.
 * {@link TraceFormat.GrowingSessions} makes prompts of sessions that grow turn by turn; {@link
 * LoggedRequest} is a record of a router's decision log.
 */
@NullMarked
package dev.warmpath.simulator.trace;

import org.jspecify.annotations.NullMarked;
