package dev.warmpath.kvindex.block;

import java.util.List;

/**
 * A prompt as the index sees it: the local hash and the block key of each full block, in order.
 *
 * <p>A block counts only once its lookahead tokens are there too, so a prompt of n tokens has
 * {@code floor((n − L) / B)} blocks. Immutable.
 */
public final class BlockChain {

  private final ChainSpace space;
  private final int promptTokens;
  private final long[] localHashes;
  private final long[] blockKeys;

  private BlockChain(ChainSpace space, int promptTokens, long[] localHashes, long[] blockKeys) {
    this.space = space;
    this.promptTokens = promptTokens;
    this.localHashes = localHashes;
    this.blockKeys = blockKeys;
  }

  /** The chain of the prompt {@code tokenIds} in {@code space}. */
  public static BlockChain of(ChainSpace space, int[] tokenIds, PromptKeys keys) {
    int size = space.blockSizeTokens();
    int count = Math.max(0, (tokenIds.length - space.lookaheadTokens()) / size);
    long[] localHashes = new long[count];
    long[] blockKeys = new long[count];
    int lengthTokens = size + space.lookaheadTokens();
    List<ExtraKey> laterKeys = keys.of(1);
    long parent = space.rootKey();
    for (int i = 0; i < count; i++) {
      List<ExtraKey> extraKeys = i == 0 ? keys.of(0) : laterKeys;
      localHashes[i] = BlockHasher.localHash(tokenIds, i * size, lengthTokens, extraKeys);
      parent = BlockHasher.blockKey(parent, localHashes[i]);
      blockKeys[i] = parent;
    }
    return new BlockChain(space, tokenIds.length, localHashes, blockKeys);
  }

  public ChainSpace space() {
    return space;
  }

  /** Length of the whole prompt, in tokens; at least what the blocks cover. */
  public int promptTokens() {
    return promptTokens;
  }

  /** Number of full blocks. */
  public int blocks() {
    return blockKeys.length;
  }

  /** The local hash of block {@code index}. */
  public long localHash(int index) {
    return localHashes[index];
  }

  /** The block key of block {@code index}. */
  public long blockKey(int index) {
    return blockKeys[index];
  }
}
