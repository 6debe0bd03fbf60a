package dev.warmpath.kvindex.block;

/**
 * The name space of block keys: engines share keys only if they serve the same model with the same
 * block size and look equally far ahead.
 *
 * <p>Immutable.
 *
 * @param model the base model's name; adapters are told apart by {@link ExtraKey.Lora}
 * @param blockSizeTokens tokens a block, from 1 to {@value #MAX_BLOCK_SIZE_TOKENS}
 * @param lookaheadTokens tokens after the block that its name covers as well, at least 0
 */
public record ChainSpace(String model, int blockSizeTokens, int lookaheadTokens) {

  /** The largest block that an engine may announce. */
  public static final int MAX_BLOCK_SIZE_TOKENS = 1 << 16;

  public ChainSpace {
    if (blockSizeTokens < 1 || blockSizeTokens > MAX_BLOCK_SIZE_TOKENS) {
      throw new IllegalArgumentException("blockSizeTokens=" + blockSizeTokens);
    }
    if (lookaheadTokens < 0 || lookaheadTokens > MAX_BLOCK_SIZE_TOKENS) {
      throw new IllegalArgumentException("lookaheadTokens=" + lookaheadTokens);
    }
  }

  /** The key that stands before block 0 in this space. */
  public long rootKey() {
    return BlockHasher.rootKey(this);
  }
}
