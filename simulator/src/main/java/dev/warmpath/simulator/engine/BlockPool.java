package dev.warmpath.simulator.engine;

import java.util.Arrays;

/**
 * All physical blocks of one engine, which of them are committed under a name, and the queue of
 * free ones. Blocks are numbers.
 *
 * <p>Block 0 is the null block: never handed out, it stands where a sliding window has passed. A
 * free block keeps its name until it is taken again; that is the cache.
 *
 * <p>Single writer.
 */
final class BlockPool {

  /*
   * Everything is an array by block, grown when a block is taken for the first time. A block that
   * was used costs 8 bytes in the queue, 4 here and 24 among the committed (names, copies and 4 to
   * 11 bytes of slots): some 36 bytes, one more with several groups.
   *
   * Invariants:
   * I1  a block is in the free queue iff it has no reference and is not the null block
   * I2  each committed block is listed under its name exactly once, and nothing else is listed
   *     (CommittedBlocks)
   * I3  copies of the event stream add up: stores − removals per name = blocks listed under it
   *     (held by tests, who see the events)
   */

  static final int NULL_BLOCK = 0;

  private final int blocks;
  private final FreeQueue free;
  private final CommittedBlocks committed;
  private final CacheListener events;
  private int[] references = {};

  BlockPool(int blocks, int groups, CacheListener events) {
    if (blocks < 2) {
      throw new IllegalArgumentException("blocks=" + blocks);
    }
    this.blocks = blocks;
    this.events = events;
    free = new FreeQueue(blocks);
    committed = new CommittedBlocks(groups);
  }

  int freeBlocks() {
    return free.size();
  }

  /** Blocks in use; the null block does not count. */
  int usedBlocks() {
    return blocks - 1 - free.size();
  }

  int committedBlocks() {
    return committed.size();
  }

  int committedNames() {
    return committed.names();
  }

  /** The oldest copy of a committed block; the null block if there is none. */
  int find(long name, int group) {
    return committed.find(name, group);
  }

  boolean isFree(int block) {
    return references[block] == 0;
  }

  /** Takes the free block that comes first; what was cached in it is evicted and announced. */
  int take() {
    int block = free.take();
    if (block >= references.length) {
      references = Arrays.copyOf(references, free.capacity());
    }
    if (committed.contains(block)) {
      committed.remove(block);
      events.removed(committed.group(block), committed.name(block));
    }
    references[block] = 1;
    return block;
  }

  /** Adds a user to a committed block that was hit. */
  void touch(int block) {
    if (references[block] == 0) {
      free.remove(block);
    }
    references[block]++;
  }

  /**
   * Takes one user from a block that is not the null block. If it becomes free it queues up at the
   * end, or at the front if it has no name, because losing it costs nothing.
   */
  void release(int block) {
    if (--references[block] > 0) {
      return;
    }
    if (committed.contains(block)) {
      free.append(block);
    } else {
      free.prepend(block);
    }
  }

  /** Makes the block findable under {@code name}, next to other copies if there are any. */
  void commit(int block, long name, int group) {
    if (block == NULL_BLOCK || committed.contains(block) || references[block] == 0) {
      throw new IllegalStateException("block=" + block + " references=" + references[block]);
    }
    committed.add(block, name, group, references.length);
  }

  /** Forgets all names, unless a block is in use. */
  boolean reset() {
    if (usedBlocks() > 0) {
      return false;
    }
    committed.clear();
    events.cleared();
    return true;
  }

  void checkInvariants() {
    boolean[] queued = new boolean[references.length];
    int count = 0;
    for (int block = free.next(0); block != 0; block = free.next(block)) {
      if (block == free.fresh()) {
        count += blocks - block;
      } else {
        queued[block] = true;
        count++;
      }
    }
    require(count == free.size(), "free queue length", count);
    for (int block = 1; block < Math.min(free.fresh(), references.length); block++) {
      require(queued[block] == (references[block] == 0), "I1", block);
    }
    committed.checkInvariants();
  }

  private static void require(boolean holds, String what, int block) {
    if (!holds) {
      throw new IllegalStateException(what + " " + block);
    }
  }
}
