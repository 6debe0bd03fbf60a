package dev.warmpath.simulator.engine.cache;

import dev.warmpath.kvindex.block.PromptKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The tokens of one request, prompt and answer, the hashes of its full blocks and the physical
 * blocks that it holds in each group.
 *
 * <p>Single writer.
 */
public final class CachedSequence {

  private final PromptKeys keys;
  private final int blockSizeTokens;
  private final BlockHashing hashing;
  private final List<BlockHash> hashes = new ArrayList<>();
  private int[] tokenIds;
  private int length;

  final List<List<Block>> blocks = new ArrayList<>();
  final int[] committedBlocks;

  CachedSequence(int[] prompt, PromptKeys keys, KvCacheConfig config, BlockHashing hashing) {
    this.keys = keys;
    this.hashing = hashing;
    blockSizeTokens = config.blockSizeTokens();
    tokenIds = prompt.clone();
    length = prompt.length;
    committedBlocks = new int[config.groups().size()];
    for (int i = 0; i < committedBlocks.length; i++) {
      blocks.add(new ArrayList<>());
    }
  }

  /** Tokens so far: the prompt and what was generated. */
  public int length() {
    return length;
  }

  /** Adds a generated token. */
  public void append(int tokenId) {
    if (length == tokenIds.length) {
      tokenIds = Arrays.copyOf(tokenIds, length + Math.max(64, length / 2));
    }
    tokenIds[length++] = tokenId;
  }

  PromptKeys keys() {
    return keys;
  }

  int[] tokens(int from, int to) {
    return Arrays.copyOfRange(tokenIds, from, to);
  }

  /** The hash of full block {@code index}. */
  BlockHash hash(int index) {
    while (hashes.size() <= index) {
      int next = hashes.size();
      BlockHash parent = next == 0 ? null : hashes.get(next - 1);
      hashes.add(
          hashing.hash(parent, tokenIds, next * blockSizeTokens, blockSizeTokens, keys.of(next)));
    }
    return hashes.get(index);
  }
}
