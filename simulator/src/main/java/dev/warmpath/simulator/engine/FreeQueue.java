package dev.warmpath.simulator.engine;

import java.util.Arrays;

/**
 * Blocks without a user, the next one to be taken first; cached ones can be pulled out of the
 * middle when they are hit. Block 0 is never among them.
 *
 * <p>Single writer.
 */
final class FreeQueue {

  /*
   * Links by block. Those of block 0 are the ends:
   *
   *   0 ⇄ first to take ⇄ … ⇄ fresh ⇄ … ⇄ last to take ⇄ 0
   *
   * Blocks that were never taken stand in a row, in order of their numbers. The first of them,
   * `fresh`, stands in the queue for all of them, so the arrays reach no further than to it.
   */

  private static final int FIRST_CAPACITY = 64;

  private final int blocks;
  private int[] previous;
  private int[] next;
  private int fresh = 1;
  private int size;

  /** A queue of the blocks 1 to {@code blocks} − 1. */
  FreeQueue(int blocks) {
    this.blocks = blocks;
    previous = new int[Math.min(blocks, FIRST_CAPACITY)];
    next = new int[previous.length];
    size = blocks - 1;
    insert(0, fresh);
  }

  int size() {
    return size;
  }

  /** Length of an array that has room for all blocks that were ever taken. */
  int capacity() {
    return previous.length;
  }

  /** The first block that was never taken, or the number of blocks if there is none. */
  int fresh() {
    return fresh;
  }

  /** The block behind {@code block}; behind 0 comes the first, behind the last comes 0. */
  int next(int block) {
    return next[block];
  }

  void append(int block) {
    insert(previous[0], block);
    size++;
  }

  void prepend(int block) {
    insert(0, block);
    size++;
  }

  int take() {
    int block = next[0];
    if (block == 0) {
      throw new IllegalStateException("no free block");
    }
    remove(block);
    if (block == fresh) {
      fresh++;
      insertFresh();
    }
    return block;
  }

  void remove(int block) {
    int before = previous[block];
    int after = next[block];
    next[before] = after;
    previous[after] = before;
    size--;
  }

  private void insertFresh() {
    if (fresh == blocks) {
      return;
    }
    if (fresh == previous.length) {
      int capacity = (int) Math.min(blocks, 2L * fresh);
      previous = Arrays.copyOf(previous, capacity);
      next = Arrays.copyOf(next, capacity);
    }
    insert(0, fresh);
  }

  private void insert(int before, int block) {
    int after = next[before];
    previous[block] = before;
    next[block] = after;
    next[before] = block;
    previous[after] = block;
  }
}
