package dev.warmpath.simulator.engine.cache;

import org.jspecify.annotations.Nullable;

/**
 * Blocks that nobody uses, the next one to be taken first; cached ones can be pulled out of the
 * middle when they are hit.
 *
 * <p>Single writer.
 */
final class FreeQueue {

  private @Nullable Block head;
  private @Nullable Block tail;
  private int size;

  int size() {
    return size;
  }

  @Nullable Block first() {
    return head;
  }

  void append(Block block) {
    block.previous = tail;
    block.next = null;
    if (tail == null) {
      head = block;
    } else {
      tail.next = block;
    }
    tail = block;
    size++;
  }

  void prepend(Block block) {
    block.previous = null;
    block.next = head;
    if (head == null) {
      tail = block;
    } else {
      head.previous = block;
    }
    head = block;
    size++;
  }

  Block take() {
    Block block = head;
    if (block == null) {
      throw new IllegalStateException("no free block");
    }
    remove(block);
    return block;
  }

  void remove(Block block) {
    Block before = block.previous;
    Block after = block.next;
    if (before == null) {
      head = after;
    } else {
      before.next = after;
    }
    if (after == null) {
      tail = before;
    } else {
      after.previous = before;
    }
    block.previous = null;
    block.next = null;
    size--;
  }
}
