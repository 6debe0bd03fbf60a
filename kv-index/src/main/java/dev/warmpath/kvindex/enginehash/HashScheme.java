package dev.warmpath.kvindex.enginehash;

import dev.warmpath.kvindex.block.ChainSpace;

/**
 * Everything that engines must have in common to give equal hashes to equal blocks.
 *
 * @param algorithm how a block becomes bytes
 * @param seed what the root hash is made of: {@code PYTHONHASHSEED}, else {@link #DEFAULT_SEED}
 * @param keys how extra keys become bytes
 * @param blockSizeTokens tokens a block
 * @param lookaheadTokens tokens after the block that its hash covers as well; 0 for none
 */
public record HashScheme(
    HashAlgorithm algorithm,
    String seed,
    HashedKeys keys,
    int blockSizeTokens,
    int lookaheadTokens) {

  /** The seed of vLLM since 0.32 when nothing is configured. */
  public static final String DEFAULT_SEED = "vllm-none-hash";

  public HashScheme {
    if (blockSizeTokens < 1 || blockSizeTokens > ChainSpace.MAX_BLOCK_SIZE_TOKENS) {
      throw new IllegalArgumentException("blockSizeTokens=" + blockSizeTokens);
    }
    if (lookaheadTokens < 0 || lookaheadTokens > ChainSpace.MAX_BLOCK_SIZE_TOKENS) {
      throw new IllegalArgumentException("lookaheadTokens=" + lookaheadTokens);
    }
  }

  /** The scheme of vLLM since 0.32 as it comes. */
  public static HashScheme vllm(int blockSizeTokens) {
    return new HashScheme(
        HashAlgorithm.SHA256, DEFAULT_SEED, HashedKeys.TAGGED, blockSizeTokens, 0);
  }

  /** How extra keys go into the hash. */
  public enum HashedKeys {
    /**
     * Since vLLM 0.32: each key is a tuple that begins with its kind; adapters bring their path.
     */
    TAGGED,
    /** vLLM 0.19 to 0.26: bare values. */
    UNTAGGED
  }
}
