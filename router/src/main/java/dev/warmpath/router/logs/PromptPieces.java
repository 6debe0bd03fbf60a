package dev.warmpath.router.logs;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.tokenizer.PromptResult;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Cuts prompts for the log, whatever the blocks of the engines are. */
public final class PromptPieces {

  /** Tokens of a piece. */
  static final int TOKENS = 64;

  private PromptPieces() {}

  /**
   * A prompt's pieces with their hashes, null if its tokens are not known. Takes time in proportion
   * to its length.
   */
  public static @Nullable BlockChain of(PreparedRequest request) {
    PromptResult.Tokens tokens = request.prompt().tokens();
    if (tokens == null) {
      return null;
    }
    ChainSpace space = new ChainSpace(Objects.requireNonNullElse(request.model(), ""), TOKENS, 0);
    int[] ids = tokens.first(Integer.MAX_VALUE); // a prompt's own chain() remembers engines' blocks
    return BlockChain.of(space, ids, keys(tokens));
  }

  /** Prompts in different name spaces share nothing. */
  private static PromptKeys keys(PromptResult.Tokens tokens) {
    PromptKeys keys = tokens.keys();
    String extraKey = tokens.extraKey();
    return extraKey == null
        ? keys
        : keys.salted(Objects.requireNonNullElse(keys.cacheSalt(), "") + "\0" + extraKey);
  }
}
