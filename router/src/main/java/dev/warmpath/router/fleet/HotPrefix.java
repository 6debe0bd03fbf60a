package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.PromptTokens;
import org.jspecify.annotations.Nullable;

/**
 * A prefix that engines reused.
 *
 * <p>Immutable.
 *
 * @param id stands for it as long as it is remembered
 * @param model as a request named it, or null
 * @param chain its blocks, as of a prompt that goes on behind them, in a space of that model: to be
 *     looked for {@linkplain BlockChain#in in the spaces} of engines
 * @param requests that reused all of it
 * @param tokensSaved the tokens that these did not compute because of it; what is shared with a
 *     prefix that is listed before it counts there
 * @param ends its first and last tokens; null if they are not kept
 */
public record HotPrefix(
    long id,
    @Nullable String model,
    BlockChain chain,
    long requests,
    long tokensSaved,
    @Nullable Ends ends) {

  /** Its length in tokens. */
  public int tokens() {
    return chain.blocks() * chain.space().blockSizeTokens();
  }

  /**
   * The first and the last tokens of a prefix, to be shown.
   *
   * <p>Immutable.
   */
  public static final class Ends {

    private static final int TOKENS = 32;

    private final int[] first;
    private final int[] last;

    /** Those of the first {@code length} tokens of a prompt. */
    Ends(PromptTokens prompt, int length) {
      int shown = Math.min(TOKENS, length);
      this.first = prompt.range(0, shown);
      this.last = prompt.range(length - shown, length);
    }

    public int[] first() {
      return first.clone();
    }

    public int[] last() {
      return last.clone();
    }
  }
}
