package dev.warmpath.kvindex.block;

import org.jspecify.annotations.Nullable;

/**
 * The name space of block keys: engines share keys only if they serve the same model with the same
 * block size and look equally far ahead.
 */
public final class ChainSpace {

  /** The largest block that an engine may announce. */
  public static final int MAX_BLOCK_SIZE_TOKENS = 1 << 16;

  private final String model;
  private final int blockSizeTokens;
  private final int lookaheadTokens;
  private final long rootKey;

  /**
   * @param model the base model's name; adapters are told apart by {@link ExtraKey.Lora}
   * @param blockSizeTokens tokens a block, from 1 to {@value #MAX_BLOCK_SIZE_TOKENS}
   * @param lookaheadTokens tokens after the block that its name covers as well, at least 0
   */
  public ChainSpace(String model, int blockSizeTokens, int lookaheadTokens) {
    if (blockSizeTokens < 1 || blockSizeTokens > MAX_BLOCK_SIZE_TOKENS) {
      throw new IllegalArgumentException("blockSizeTokens=" + blockSizeTokens);
    }
    if (lookaheadTokens < 0 || lookaheadTokens > MAX_BLOCK_SIZE_TOKENS) {
      throw new IllegalArgumentException("lookaheadTokens=" + lookaheadTokens);
    }
    this.model = model;
    this.blockSizeTokens = blockSizeTokens;
    this.lookaheadTokens = lookaheadTokens;
    rootKey = BlockHasher.rootKey(this);
  }

  public String model() {
    return model;
  }

  public int blockSizeTokens() {
    return blockSizeTokens;
  }

  public int lookaheadTokens() {
    return lookaheadTokens;
  }

  /** How many blocks a prompt of so many tokens has. */
  public int blocks(int promptTokens) {
    return Math.max(0, (promptTokens - lookaheadTokens) / blockSizeTokens);
  }

  /** The key that stands before block 0 in this space. */
  public long rootKey() {
    return rootKey;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ChainSpace space
        && space.model.equals(model)
        && space.blockSizeTokens == blockSizeTokens
        && space.lookaheadTokens == lookaheadTokens;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(rootKey);
  }

  @Override
  public String toString() {
    return "ChainSpace[model=%s, blockSizeTokens=%d, lookaheadTokens=%d]"
        .formatted(model, blockSizeTokens, lookaheadTokens);
  }
}
