/**
 * Keeps what the index says about each engine true to the engine's own event stream.
 *
 * <pre>{@code
 * transport ─▶ follow (ring) ─▶ stream ─▶ wire ─▶ apply ─▶ kv-index
 * bytes        one writer       order,     rows    meaning
 *              for all engines  gaps, trust
 * }</pre>
 *
 * <p>Start with {@code follow.EventIngest}, the door of the module; a lost message is handled by
 * {@code stream.EngineStream}. Here are the values of that door: where an engine's events come from
 * ({@link EngineSource}), how to read them ({@link EngineRules}), how the stream stands ({@link
 * EngineStatus}), how far it is believed ({@link Trust}) and what is counted ({@link
 * StreamCounter}). What an answer shows goes in by the same door: cached tokens ({@link
 * ReportedReuse}) and the images of a chat ({@link SentImages}).
 *
 * <p>Beside the path: {@code snapshot} carries state to the next process, {@code hashing} computes
 * hashes that no event shows, {@code capture} is the file format of recorded streams.
 */
@NullMarked
package dev.warmpath.eventingest;

import org.jspecify.annotations.NullMarked;
