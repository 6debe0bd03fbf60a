package dev.warmpath.simulator.engine.cache;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All physical blocks of one engine, which of them are committed under a name, and the queue of
 * free ones.
 *
 * <p>Block 0 is the null block: never handed out, it stands where a sliding window has passed. A
 * free block keeps its name until it is taken again; that is the cache.
 *
 * <p>Single writer.
 */
final class BlockPool {

  /* Invariants:
   * I1  a block is in the free queue iff it has no reference and is not the null block
   * I2  each committed block is listed under its key exactly once, and nothing else is listed
   * I3  copies of the event stream add up: stores − removals per key = blocks listed under it
   *     (held by tests, who see the events)
   */

  private final Block[] blocks;
  private final FreeQueue free = new FreeQueue();
  private final Map<Block.Key, List<Block>> committed = new HashMap<>();
  private final CacheListener events;

  BlockPool(int count, CacheListener events) {
    if (count < 2) {
      throw new IllegalArgumentException("blocks=" + count);
    }
    this.events = events;
    blocks = new Block[count];
    for (int i = 0; i < count; i++) {
      blocks[i] = new Block(i);
      if (i > 0) {
        free.append(blocks[i]);
      }
    }
  }

  Block nullBlock() {
    return blocks[0];
  }

  int freeBlocks() {
    return free.size();
  }

  /** Blocks in use; the null block does not count. */
  int usedBlocks() {
    return blocks.length - 1 - free.size();
  }

  int committedBlocks() {
    return committed.values().stream().mapToInt(List::size).sum();
  }

  /** The oldest copy of a committed block. */
  @Nullable Block find(long name, int group) {
    List<Block> copies = committed.get(new Block.Key(name, group));
    return copies == null ? null : copies.get(0);
  }

  /** Takes the free block that comes first; what was cached in it is evicted and announced. */
  Block take() {
    Block block = free.take();
    if (block.key != null) {
      Block.Key key = uncommit(block);
      events.removed(key.group(), key.name());
    }
    block.references = 1;
    return block;
  }

  /** Adds a user to a block that was hit. */
  void touch(Block block) {
    if (block.isNull()) {
      return;
    }
    if (block.references == 0) {
      free.remove(block);
    }
    block.references++;
  }

  /**
   * Takes one user from each block. Blocks that become free queue up in the given order; those
   * without a name go to the front, because losing them costs nothing.
   */
  void release(List<Block> ordered) {
    for (Block block : ordered) {
      if (block.isNull() || --block.references > 0) {
        continue;
      }
      if (block.key == null) {
        free.prepend(block);
      } else {
        free.append(block);
      }
    }
  }

  /** Makes the block findable under {@code name}, next to other copies if there are any. */
  void commit(Block block, long name, int group) {
    if (block.key != null || block.references == 0) {
      throw new IllegalStateException("block=" + block.id + " references=" + block.references);
    }
    block.key = new Block.Key(name, group);
    committed.computeIfAbsent(block.key, key -> new ArrayList<>(1)).add(block);
  }

  /** Forgets all names, unless a block is in use. */
  boolean reset() {
    if (usedBlocks() > 0) {
      return false;
    }
    committed.clear();
    for (Block block : blocks) {
      block.key = null;
    }
    events.cleared();
    return true;
  }

  private Block.Key uncommit(Block block) {
    Block.Key key = block.key;
    List<Block> copies = key == null ? null : committed.get(key);
    if (key == null || copies == null || !copies.remove(block)) {
      throw new IllegalStateException("not listed: block=" + block.id);
    }
    if (copies.isEmpty()) {
      committed.remove(key);
    }
    block.key = null;
    return key;
  }

  void checkInvariants() {
    boolean[] queued = new boolean[blocks.length];
    int count = 0;
    for (Block block = free.first(); block != null; block = block.next) {
      queued[block.id] = true;
      count++;
    }
    require(count == free.size(), "free queue length");
    int withKey = 0;
    for (Block block : blocks) {
      require(queued[block.id] == (block.references == 0 && !block.isNull()), "I1", block);
      if (block.key != null) {
        withKey++;
        require(committed.getOrDefault(block.key, List.of()).contains(block), "I2", block);
      }
    }
    require(withKey == committedBlocks(), "I2");
  }

  private static void require(boolean holds, String what, Block block) {
    require(holds, what + " block=" + block.id + " references=" + block.references);
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException(what);
    }
  }
}
