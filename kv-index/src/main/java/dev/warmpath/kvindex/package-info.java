/**
 * Who holds which block: the index that the write path fills and the read path asks.
 *
 * <pre>{@code
 * an engine's events      ─▶ KvIndex.stored, removed, cleared   one writer thread
 * a prompt, as BlockChain ─▶ KvIndex.match ─▶ PrefixMatches     any thread
 *                                             reusable tokens of each engine slot
 * }</pre>
 *
 * <p>Start with {@link KvIndex}: its contract says what may be credited; {@code runs.RunKvIndex} is
 * the implementation. {@link StoredBlocks} and {@link RemovedBlocks} carry an event into the index.
 * {@link CacheLayout} describes how one engine caches; {@link TierReuse} and {@link ReuseRule}
 * compute from it how many tokens of held blocks the engine would reuse.
 *
 * <p>{@code block} defines what a block is, {@code enginehash} the hashes that vLLM gives it,
 * {@code snapshot} the format in which the index is saved.
 */
@NullMarked
package dev.warmpath.kvindex;

import org.jspecify.annotations.NullMarked;
