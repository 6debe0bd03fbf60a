package dev.warmpath.simulator.engine;

import java.util.Arrays;

/**
 * One sequence as its cache sees it: the names of its full blocks and the physical blocks that it
 * holds in each group.
 *
 * <p>Single writer.
 */
public class CachedSequence {

  private static final BlockTable[] HOLDS_NOTHING = {};

  private final BlockNames names;
  private final int promptTokens;

  /** A table for each group, as long as the sequence holds blocks; lent by the cache. */
  BlockTable[] tables = HOLDS_NOTHING;

  /** Blocks that its last lookup found in the full-attention group; more than other groups had. */
  int sharedBlocks;

  /** A sequence that holds nothing yet; its prompt has at least one token. */
  public CachedSequence(BlockNames names, int promptTokens) {
    if (promptTokens < 1) {
      throw new IllegalArgumentException("promptTokens=" + promptTokens);
    }
    this.names = names;
    this.promptTokens = promptTokens;
  }

  public final int promptTokens() {
    return promptTokens;
  }

  /** The name of full block {@code block}. */
  public final long name(int block) {
    return names.of(block);
  }

  /** Numbers of the blocks that it holds in each group, in order; 0 where a window has passed. */
  public final int[][] heldBlocks() {
    return Arrays.stream(tables).map(BlockTable::toArray).toArray(int[][]::new);
  }

  final boolean holdsNothing() {
    return tables.length == 0;
  }

  /** Gives the tables back. */
  final BlockTable[] detach() {
    BlockTable[] lent = tables;
    tables = HOLDS_NOTHING;
    return lent;
  }

  /**
   * The physical blocks that stand for the first blocks of a sequence in one group. Those that the
   * group's window has passed come first, as null blocks.
   *
   * <p>Single writer.
   */
  static final class BlockTable {

    private int[] blocks = {};
    private int size;

    /** Null blocks at the front. */
    int passed;

    /** Blocks that are committed, null blocks included. */
    int committed;

    int size() {
      return size;
    }

    /** The block at {@code index}, which is not the null block. */
    int block(int index) {
      return blocks[index];
    }

    /** Empties the table and begins with so many null blocks. */
    void begin(int nullBlocks) {
      passed = nullBlocks;
      size = nullBlocks;
      committed = 0;
      reserve(nullBlocks);
    }

    void add(int block) {
      reserve(size + 1);
      blocks[size++] = block;
    }

    /** Begins with the first {@code count} blocks of another table, committed ones. */
    void begin(BlockTable other, int count) {
      begin(other.passed);
      reserve(count);
      System.arraycopy(other.blocks, passed, blocks, passed, count - passed);
      size = count;
      committed = count;
    }

    /** All blocks, null blocks as 0. */
    int[] toArray() {
      int[] all = Arrays.copyOf(blocks, size);
      Arrays.fill(all, 0, passed, BlockPool.NULL_BLOCK);
      return all;
    }

    private void reserve(int count) {
      if (count > blocks.length) {
        blocks = Arrays.copyOf(blocks, Math.max(count, Math.max(8, blocks.length * 3 / 2)));
      }
    }
  }
}
