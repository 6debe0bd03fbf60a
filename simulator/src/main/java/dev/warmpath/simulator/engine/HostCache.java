package dev.warmpath.simulator.engine;

import dev.warmpath.kvindex.CacheGroup;

/**
 * Host memory behind one engine's KV cache: copies of blocks that were committed there, one of each
 * name. The copy that was not asked for the longest makes room.
 *
 * <p>Single writer.
 */
final class HostCache {

  /* A block pool of which no block is ever in use: its queue of free blocks is the LRU order. */

  private final CacheGroup group;
  private final int blocks;
  private final CacheListener events;
  private final BlockPool pool;

  /** Room for {@code blocks} blocks of a group, at least one. */
  HostCache(CacheGroup group, int blocks, CacheListener events) {
    this.group = group;
    this.blocks = blocks;
    this.events = events;
    pool = new BlockPool(blocks + 1, 1, new Dropped(events));
  }

  /** Finds the sequence's blocks from {@code from} on, before {@code limit}; where they end. */
  int find(CachedSequence sequence, int from, int limit) {
    int end = from;
    while (end < limit && contains(sequence.name(end))) {
      end++;
    }
    return end;
  }

  /**
   * The sequence's first {@code count} blocks were asked for; its end is dropped before its begin.
   */
  void use(CachedSequence sequence, int count) {
    for (int i = count - 1; i >= 0; i--) {
      int block = pool.find(sequence.name(i), group.index());
      if (block != BlockPool.NULL_BLOCK) {
        pool.touch(block);
        pool.release(block);
      }
    }
  }

  /**
   * Copies those of the blocks {@code [from, to)} that are not there, the first ones if not all
   * fit.
   */
  void store(CachedSequence sequence, int from, int to) {
    int end = Math.min(to, from + blocks);
    int run = from;
    for (int i = from; i < end; i++) {
      if (contains(sequence.name(i))) {
        stored(sequence, run, i);
        run = i + 1;
      } else {
        int block = pool.take();
        pool.commit(block, sequence.name(i), group.index());
        pool.release(block);
      }
    }
    stored(sequence, run, end);
  }

  void clear() {
    pool.reset();
  }

  /** Blocks that are held. */
  int size() {
    return pool.committedBlocks();
  }

  void checkInvariants() {
    pool.checkInvariants();
  }

  private boolean contains(long name) {
    return pool.find(name, group.index()) != BlockPool.NULL_BLOCK;
  }

  private void stored(CachedSequence sequence, int from, int to) {
    if (from < to) {
      events.storedOnHost(sequence, group, from, to);
    }
  }

  /** Reports what the pool drops. That it was cleared is not news: the cache says so. */
  private record Dropped(CacheListener events) implements CacheListener {
    @Override
    public void stored(
        CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock, int heldFrom) {}

    @Override
    public void removed(int group, long blockName) {
      events.removedFromHost(group, blockName);
    }

    @Override
    public void cleared() {}
  }
}
