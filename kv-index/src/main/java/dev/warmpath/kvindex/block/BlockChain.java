package dev.warmpath.kvindex.block;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A prompt as the index sees it: the local hash and the block key of each full block, in order.
 *
 * <p>A block counts only once its lookahead tokens are there too, so a prompt of n tokens has
 * {@code floor((n − L) / B)} blocks.
 *
 * <p>Thread-safe.
 */
public final class BlockChain {

  private final ChainSpace space;
  private final int promptTokens;
  private final long[] localHashes;
  private volatile long @Nullable [] blockKeys;

  private BlockChain(ChainSpace space, int promptTokens) {
    this(space, promptTokens, new long[space.blocks(promptTokens)]);
  }

  private BlockChain(ChainSpace space, int promptTokens, long[] localHashes) {
    this.space = space;
    this.promptTokens = promptTokens;
    this.localHashes = localHashes;
  }

  /** The chain of the prompt {@code tokenIds} in {@code space}. */
  public static BlockChain of(ChainSpace space, int[] tokenIds, PromptKeys keys) {
    BlockChain chain = new BlockChain(space, tokenIds.length);
    chain.hash(0, chain.blocks(), tokenIds, 0, keys);
    return chain;
  }

  /**
   * The same chain, without hashing what is known; only the tokens of other blocks are asked for.
   *
   * @param known the first blocks' hashes in {@code space}, of these very tokens without extra keys
   */
  public static BlockChain of(
      ChainSpace space, PromptTokens tokens, PromptKeys keys, List<BlockRun> known) {
    BlockChain chain = new BlockChain(space, tokens.count());
    int done = chain.copy(known, keys.plainBlocks(chain.blocks(), space.blockSizeTokens()));
    boolean firstHasKeys = !keys.of(0, space.blockSizeTokens()).isEmpty();
    if (done > 0 && firstHasKeys) {
      int length = space.blockSizeTokens() + space.lookaheadTokens();
      chain.hash(0, 1, tokens.range(0, length), 0, keys);
    }
    if (done < chain.blocks()) {
      int from = done * space.blockSizeTokens();
      chain.hash(done, chain.blocks(), tokens.range(from, tokens.count()), from, keys);
    }
    return chain;
  }

  /** Copies what is known of the first {@code most} blocks; returns how many that were. */
  private int copy(List<BlockRun> known, int most) {
    int done = 0;
    for (BlockRun run : known) {
      int blocks = Math.min(run.blocks(), most - done);
      run.copyTo(localHashes, done, blocks);
      done += blocks;
    }
    return done;
  }

  /**
   * Hashes the blocks {@code [from, to)} of the tokens {@code ids}, which begin at {@code idsFrom}.
   */
  private void hash(int from, int to, int[] ids, int idsFrom, PromptKeys keys) {
    int size = space.blockSizeTokens();
    int lengthTokens = size + space.lookaheadTokens();
    for (int i = from; i < to; i++) {
      localHashes[i] =
          BlockHasher.localHash(ids, i * size - idsFrom, lengthTokens, keys.of(i, size));
    }
  }

  /** The chain of a prompt that is known by the local hashes of its blocks and ends with them. */
  public static BlockChain ofLocalHashes(ChainSpace space, long... localHashes) {
    int tokens = localHashes.length * space.blockSizeTokens() + space.lookaheadTokens();
    return new BlockChain(space, tokens, localHashes.clone());
  }

  /**
   * The chain of a prompt of {@code promptTokens} of which the first blocks have these local
   * hashes; blocks behind them are not known.
   */
  public static BlockChain ofLocalHashes(ChainSpace space, int promptTokens, long[] localHashes) {
    if (localHashes.length > space.blocks(promptTokens)) {
      throw new IllegalArgumentException(
          "blocks=" + localHashes.length + " promptTokens=" + promptTokens);
    }
    return new BlockChain(space, promptTokens, localHashes.clone());
  }

  /**
   * The same blocks in {@code other}, which may be of another model; null if blocks there are not
   * as long or look otherwise ahead.
   */
  public @Nullable BlockChain in(ChainSpace other) {
    boolean isAlike =
        other.blockSizeTokens() == space.blockSizeTokens()
            && other.lookaheadTokens() == space.lookaheadTokens();
    return isAlike ? new BlockChain(other, promptTokens, localHashes) : null;
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
    return localHashes.length;
  }

  /** The local hash of block {@code index}. */
  public long localHash(int index) {
    return localHashes[index];
  }

  /** The hashes of the blocks {@code [from, to)}, of a prompt whose blocks have no extra keys. */
  public BlockRun run(int from, int to) {
    return new BlockRun(space, Arrays.copyOfRange(localHashes, from, to));
  }

  /**
   * How many local hashes, from block {@code index} on, stand in {@code column} from {@code at} on;
   * at most {@code count}.
   */
  public int same(int index, long[] column, int at, int count) {
    int differ = Arrays.mismatch(localHashes, index, index + count, column, at, at + count);
    return differ < 0 ? count : differ;
  }

  /** The block key of block {@code index}; the keys of all blocks are made on first use. */
  public long blockKey(int index) {
    return allKeys()[index];
  }

  /**
   * How many leading blocks this chain and {@code other} share. A block key names its whole prefix,
   * so this takes a number of comparisons logarithmic in the length of the shorter chain.
   */
  public int sharedBlocks(BlockChain other) {
    long[] own = allKeys();
    long[] others = other.allKeys();
    int shared = 0;
    int differ = Math.min(own.length, others.length);
    while (shared < differ) {
      int middle = (shared + differ) >>> 1;
      if (own[middle] == others[middle]) {
        shared = middle + 1;
      } else {
        differ = middle;
      }
    }
    return shared;
  }

  private long[] allKeys() {
    long[] keys = blockKeys;
    if (keys == null) {
      keys = keys();
      blockKeys = keys;
    }
    return keys;
  }

  private long[] keys() {
    long[] keys = new long[localHashes.length];
    long parent = space.rootKey();
    for (int i = 0; i < keys.length; i++) {
      parent = BlockHasher.blockKey(parent, localHashes[i]);
      keys[i] = parent;
    }
    return keys;
  }
}
