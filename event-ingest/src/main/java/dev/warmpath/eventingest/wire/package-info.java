/**
 * The wire format of events, of vLLM and SGLang releases of every age: payloads decoded into
 * columns.
 *
 * <pre>{@code
 * StreamMessage ─▶ ColumnDecoder ─▶ EventReader ─▶ EventColumns: a row for each event, an EventRow
 *                    │ Repeats       an event like the one before it, by comparing bytes
 *                    └ WireCursor    MessagePack, value by value, nothing trusted
 * }</pre>
 *
 * <p>Start with {@link ColumnDecoder}; its columns are reused from batch to batch. {@link
 * EventReader} knows every field of every event, {@link EventRow} is the result. An event that
 * cannot be read is skipped and counted ({@link EventColumns.SkipReason}); a payload whose
 * structure is broken is refused as a whole ({@link WireException}). {@link Naming} says whether
 * the blocks of a store can be named by their tokens.
 */
@NullMarked
package dev.warmpath.eventingest.wire;

import org.jspecify.annotations.NullMarked;
