/**
 * Turns an engine's decoded events into writes to the index.
 *
 * <pre>{@code
 * EventColumns ─▶ EventApplier ─▶ StoredBlocks, RemovedBlocks ─▶ KvIndex
 *                   │ BlockLayout, GroupTable   groups, block sizes, space of the block keys
 *                   │ Capacity                  how many blocks the engine can hold
 *                   │ HashCalibration           how the engine computes its hashes
 *                   │ ImageCalibration          how it names images
 *                   └ ImageLearning             what it makes of images that cannot be computed
 * }</pre>
 *
 * <p>Start with {@link EventApplier}, one for each engine. It names a block only if the store shows
 * every token and extra key that the name covers; other blocks are held without a name. {@code
 * OffloadChunks} knows what slower tiers return together. {@link SharedStore} is the index entry of
 * a store that several engines read. {@link LearnedCache} is what was learned about an engine, in
 * the form that a snapshot keeps.
 */
@NullMarked
package dev.warmpath.eventingest.apply;

import org.jspecify.annotations.NullMarked;
