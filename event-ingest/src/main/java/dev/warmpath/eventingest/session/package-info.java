/**
 * One engine's batches, in order and complete or else counted as lost, applied to the index.
 *
 * <pre>
 *   live batch, batch of a replay ─▶ EngineStream ─▶ EventApplier ─▶ index
 *                                     │      │
 *                                Lifetime  KnownCache ─▶ ReuseJudge
 *                           same process?  what is held, lost, suspended; trust
 * </pre>
 *
 * <p>Start with {@code EngineStream}: gaps, replays and repairs are its table of states.
 */
@NullMarked
package dev.warmpath.eventingest.session;

import org.jspecify.annotations.NullMarked;
