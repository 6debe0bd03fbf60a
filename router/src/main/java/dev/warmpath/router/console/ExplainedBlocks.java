package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.Explanation;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Shows a prompt block by block: how long each is, its text if that may be shown, and which engines
 * would reuse it.
 *
 * <p>Immutable.
 */
final class ExplainedBlocks {

  private static final int MOST_BLOCKS = 2_000;

  private final int @Nullable [] tokenIds;
  private final @Nullable ModelTokenizer tokenizer;

  /**
   * @param tokenIds null if they are not known, or not to be shown
   * @param tokenizer decodes them; null if there is none
   */
  ExplainedBlocks(int @Nullable [] tokenIds, @Nullable ModelTokenizer tokenizer) {
    this.tokenIds = tokenIds;
    this.tokenizer = tokenizer;
  }

  /** Adds {@code blocks} and {@code blocksLeftOut}. */
  void write(ObjectNode to, Explanation explanation) {
    ArrayNode list = to.putArray("blocks");
    BlockChain chain = explanation.blocks();
    if (chain == null) {
      to.put("blocksLeftOut", 0);
      return;
    }
    int size = chain.space().blockSizeTokens();
    int shown = Math.min(chain.blocks(), MOST_BLOCKS);
    for (int i = 0; i < shown; i++) {
      block(list.addObject(), i * size, (i + 1) * size, explanation.engines());
    }
    int end = shown * size;
    if (shown == chain.blocks() && end < chain.promptTokens()) {
      block(list.addObject(), end, chain.promptTokens(), List.of());
    }
    to.put("blocksLeftOut", chain.blocks() - shown);
  }

  private void block(ObjectNode to, int from, int end, List<Explanation.Row> engines) {
    to.put("tokens", end - from);
    to.put("text", text(from, end));
    ArrayNode holders = to.putArray("holders");
    for (Explanation.Row engine : engines) {
      if (engine.matchedTokens() >= end) {
        holders.add(engine.engine());
      }
    }
  }

  private @Nullable String text(int from, int end) {
    if (tokenIds == null || tokenizer == null || from >= tokenIds.length) {
      return null;
    }
    int[] ids = Arrays.copyOfRange(tokenIds, from, Math.min(end, tokenIds.length));
    return tokenizer.decode(ids);
  }
}
