/**
 * One engine's batches, in order and complete or else counted as lost, applied to the index.
 *
 * <pre>{@code
 * live batch, batch of a replay ─▶ EngineStream ─▶ KnownCache ─▶ ColumnDecoder ─▶ EventApplier
 *                                   │      │       what is held, lost, suspended; trust
 *                                   │   Lifetime   is this still the same process?
 *                               ReuseJudge         did the engine reuse what was predicted?
 * }</pre>
 *
 * <p>Start with {@link EngineStream}: gaps, replays and repairs are its table of states. {@link
 * Lifetime} decides whether a batch belongs to the process that was followed so far; {@link
 * BatchDigests} tell a repeated batch from another one with its number. {@link KnownCache} suspends
 * or forgets what was held when batches are lost. {@link StreamSockets} is all that a stream asks
 * of its sockets.
 */
@NullMarked
package dev.warmpath.eventingest.stream;

import org.jspecify.annotations.NullMarked;
