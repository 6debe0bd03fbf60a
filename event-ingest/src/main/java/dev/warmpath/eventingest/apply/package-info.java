/**
 * What an engine's decoded events mean, written to the index.
 *
 * <p>Start with {@code EventApplier}. {@code BlockLayout} knows the engine's block sizes and
 * groups, {@code Capacity} how much it can hold, {@code HashCalibration} finds out how it names
 * blocks, {@code OffloadChunks} what slower tiers store; what of it is kept for the next process is
 * a {@code LearnedCache}.
 */
@NullMarked
package dev.warmpath.eventingest.apply;

import org.jspecify.annotations.NullMarked;
