/**
 * Keeps what the index says about each engine true to the engine's own event stream.
 *
 * <pre>
 *   transport ─▶ follow (ring) ─▶ session ─▶ wire.decode ─▶ apply ─▶ kv-index
 *   bytes        one writer        order,      rows          meaning
 *                for all engines   gaps, trust
 * </pre>
 *
 * <p>Start with {@code follow.EventIngest}, the door of the module; a lost message is {@code
 * session.EngineStream}'s. Here stand the words of that door: which engine, its rules, how it
 * stands and how far it is believed ({@link dev.warmpath.eventingest.Trust}).
 */
@NullMarked
package dev.warmpath.eventingest;

import org.jspecify.annotations.NullMarked;
