package dev.warmpath.router.console;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.tokenizer.PromptResult;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of a prompt.
 *
 * <p>Immutable.
 */
public final class KeptPrompt {

  private static final int BLOCK_BYTES = 2 * Long.BYTES;

  private final @Nullable BlockChain blocks;
  private final int @Nullable [] tokenIds;
  private final int estimatedTokens;

  private KeptPrompt(@Nullable BlockChain blocks, int @Nullable [] tokenIds, int estimatedTokens) {
    this.blocks = blocks;
    this.tokenIds = tokenIds;
    this.estimatedTokens = estimatedTokens;
  }

  /**
   * The prompt of a request.
   *
   * @param blocks its blocks in an engine's space, or null
   * @param request null if its body was not read
   */
  static KeptPrompt of(
      @Nullable BlockChain blocks, @Nullable PreparedRequest request, boolean keepsTokens) {
    PromptResult.Tokens tokens = request == null || !keepsTokens ? null : request.prompt().tokens();
    return new KeptPrompt(
        blocks,
        tokens == null ? null : tokens.first(Integer.MAX_VALUE),
        request == null ? 0 : request.estimatedTokens());
  }

  /** Its blocks in the space of the engine that was given it; null if they are not known. */
  public @Nullable BlockChain blocks() {
    return blocks;
  }

  /** Not to be changed; null if they are not known, or not kept. */
  public int @Nullable [] tokenIds() {
    return tokenIds;
  }

  /** How long it may be, where its tokens are not known. */
  int estimatedTokens() {
    return estimatedTokens;
  }

  /** About as many bytes as it takes in memory. */
  long bytes() {
    return (blocks == null ? 0 : (long) blocks.blocks() * BLOCK_BYTES)
        + (tokenIds == null ? 0 : (long) tokenIds.length * Integer.BYTES);
  }
}
