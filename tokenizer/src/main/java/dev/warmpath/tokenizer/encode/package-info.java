/**
 * Text to token ids, through the native tokenizers library, and never the same text twice.
 *
 * <pre>{@code
 * text ─▶ IncrementalEncoder ─▶ PrefixTree       a known beginning: its tokens from memory
 *                            ─▶ CutPlan          where the rest may be cut into chunks
 *                            ─▶ ChunkEncoder     ChunkCache, WordCache, else TextEncoder (native)
 *                            ─▶ EncodedText      token ids, and block hashes that are known
 * }</pre>
 *
 * <p>Start with {@link IncrementalEncoder}; {@link TextEncoder} is the native library alone. {@link
 * CutPlanner} decides from a {@link TokenizerShape} ({@code tokenizer.json}) where texts may be cut
 * so that their parts give the tokens of the whole: only where that is proven ({@code KnownSplits},
 * {@code MergeReach}), and {@link SelfCheck} tries it before it is used. Memory is bounded by an
 * {@link EncodeBudget}; {@link EncodeGuard} refuses what would take too long on an event loop.
 */
@NullMarked
package dev.warmpath.tokenizer.encode;

import org.jspecify.annotations.NullMarked;
