package dev.warmpath.tokenizer.encode;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.BlockRun;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.encode.cache.PrefixNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A text's tokens, and what is remembered of how it begins: block hashes that were made for an
 * earlier text are not made again.
 *
 * <p>Thread-safe.
 */
public final class EncodedText {

  private final int[] tokenIds;
  private final @Nullable PrefixNode last;

  EncodedText(int[] tokenIds, @Nullable PrefixNode last) {
    this.tokenIds = tokenIds;
    this.last = last;
  }

  /** The tokens, not to be changed. */
  public int[] tokenIds() {
    return tokenIds;
  }

  /** The text with tokens around it. */
  public EncodedText with(AroundTokens around) {
    return around.count() == 0 ? this : new EncodedText(around.around(tokenIds), null);
  }

  /** The block chain of the text as a whole prompt. */
  public BlockChain chain(ChainSpace space, PromptKeys keys) {
    if (keys.loraName() != null || last == null) {
      return BlockChain.of(space, tokenIds, keys);
    }
    List<PrefixNode> nodes = nodes(last);
    List<BlockRun> known = new ArrayList<>(nodes.size());
    for (PrefixNode node : nodes) {
      BlockRun run = node.blocks();
      if (run == null || !run.space().equals(space)) {
        break;
      }
      known.add(run);
    }
    BlockChain chain = BlockChain.of(space, tokenIds, keys, known);
    if (keys.cacheSalt() == null) {
      nodes.subList(known.size(), nodes.size()).forEach(node -> remember(node, chain));
    }
    return chain;
  }

  private static List<PrefixNode> nodes(PrefixNode last) {
    List<PrefixNode> nodes = new ArrayList<>();
    for (PrefixNode node = last; node != null; node = node.parent()) {
      nodes.add(node);
    }
    Collections.reverse(nodes);
    return nodes;
  }

  /** The blocks that end in the node with all that their names cover. */
  private static void remember(PrefixNode node, BlockChain chain) {
    PrefixNode parent = node.parent();
    int from = parent == null ? 0 : chain.space().blocks(parent.endTokens());
    node.blocks(chain.run(from, chain.space().blocks(node.endTokens())));
  }
}
