package dev.warmpath.simulator.engine;

import java.util.Arrays;

/**
 * The physical blocks that stand for the first blocks of a sequence in one group. Those that the
 * group's window has passed come first, as null blocks.
 *
 * <p>Single writer.
 */
final class BlockTable {

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
