/**
 * What a block is: its tokens, its extra keys and the two hashes that name it.
 *
 * <pre>{@code
 * PromptTokens, PromptKeys ─▶ BlockChain ─▶ BlockHasher ─▶ a local hash and a block key
 *                             in a ChainSpace              for each full block
 * }</pre>
 *
 * <p>Start with {@link BlockChain}, a prompt as the index sees it. {@link BlockHasher} computes the
 * local hash of a block's content and the block key of the block with its whole prefix. {@link
 * ChainSpace} is the name space: only engines of one model, block size and lookahead share block
 * keys. {@link ExtraKey} is what tells blocks with equal tokens apart: an adapter, a cache salt, an
 * image, embeddings. {@link ImageForm} is how an engine makes the name of an image.
 */
@NullMarked
package dev.warmpath.kvindex.block;

import org.jspecify.annotations.NullMarked;
