/**
 * The hashes that vLLM gives to blocks, bit for bit, so that engine hashes can be computed here
 * from tokens.
 *
 * <pre>{@code
 * parent's hash, tokens, ExtraKey … ─▶ PickleWriter or CborWriter ─▶ SHA-256 or XXH3 ─▶ hash
 * }</pre>
 *
 * <p>Start with {@link EngineHasher}: it hashes each block from its parent's hash, as a {@link
 * HashScheme} says (seed, block size, {@link HashAlgorithm}, {@link HashScheme.HashedKeys}). {@code
 * HashAlgorithm.PickleWriter} and {@code HashAlgorithm.CborWriter} write the same bytes as
 * CPython's pickle and canonical CBOR.
 */
@NullMarked
package dev.warmpath.kvindex.enginehash;

import org.jspecify.annotations.NullMarked;
