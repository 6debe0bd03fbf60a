package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.block.BlockChain;
import java.util.Arrays;

/**
 * A prompt by the keys of few of its blocks, each of which names all blocks before it: what another
 * router tells of a prompt. It shows how far another prompt runs along at least, to within half of
 * what the two share behind the first block.
 *
 * <p>Immutable. No request pays for a longer prompt with more than a mark for each doubling.
 */
public final class PromptMarks {

  /** At most so many: the first, one for each doubling, the last. */
  public static final int MOST = Integer.SIZE + 2;

  private final int[] at;
  private final long[] keys;

  private PromptMarks(int[] at, long[] keys) {
    this.at = at;
    this.keys = keys;
  }

  /**
   * Marks of a chain from one of its blocks on: there, 1, 2, 4 … blocks behind it, and at the end.
   *
   * @param from the first block that matters, below {@link BlockChain#blocks()}
   */
  public static PromptMarks of(BlockChain chain, int from) {
    int last = chain.blocks() - 1;
    int[] at = new int[MOST];
    int count = 0;
    at[count++] = from;
    for (long next = from + 1L, step = 1; next < last; step *= 2, next = from + step) {
      at[count++] = (int) next;
    }
    if (last > from) {
      at[count++] = last;
    }
    long[] keys = new long[count];
    for (int i = 0; i < count; i++) {
      keys[i] = chain.blockKey(at[i]);
    }
    return new PromptMarks(Arrays.copyOf(at, count), keys);
  }

  /**
   * Marks that were told.
   *
   * @param at blocks, ascending
   * @param keys their keys
   * @throws IllegalArgumentException if there are none, too many, or not so many keys
   */
  public static PromptMarks of(int[] at, long[] keys) {
    if (at.length == 0 || at.length > MOST || at.length != keys.length || at[0] < 0) {
      throw new IllegalArgumentException("marks=" + at.length + " keys=" + keys.length);
    }
    for (int i = 1; i < at.length; i++) {
      if (at[i] <= at[i - 1]) {
        throw new IllegalArgumentException("at=" + Arrays.toString(at));
      }
    }
    return new PromptMarks(at.clone(), keys.clone());
  }

  /** How many there are. */
  public int count() {
    return at.length;
  }

  /** The block of a mark. */
  public int at(int mark) {
    return at[mark];
  }

  /** The key of that block. */
  public long key(int mark) {
    return keys[mark];
  }

  /** Blocks of the prompt, its last mark being its end. */
  public int blocks() {
    return at[at.length - 1] + 1;
  }

  /** Leading blocks that {@code chain} has in common for certain; 0 if no mark is. */
  public int sharedBlocks(BlockChain chain) {
    int shared = 0; // marks before it are the chain's
    int differ = at.length;
    while (shared < differ) {
      int middle = (shared + differ) >>> 1;
      if (at[middle] < chain.blocks() && chain.blockKey(at[middle]) == keys[middle]) {
        shared = middle + 1;
      } else {
        differ = middle;
      }
    }
    return shared == 0 ? 0 : at[shared - 1] + 1;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PromptMarks marks
        && Arrays.equals(at, marks.at)
        && Arrays.equals(keys, marks.keys);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(at) + Arrays.hashCode(keys);
  }
}
