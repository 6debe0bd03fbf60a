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

  /**
   * Blocks without a user, the next one to be taken first; cached ones can be pulled out of the
   * middle when they are hit. Block 0 is never among them.
   *
   * <p>Single writer.
   */
  private static final class FreeQueue {

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

  /**
   * Finds the committed blocks of all groups by their names.
   *
   * <p>Single writer.
   */
  private static final class CommittedBlocks {

    /*
     * Open addressing with linear probing: a slot holds the oldest block of a name and group, 0 for
     * none. Copies of it hang in a ring:
     *
     *   slot → oldest → newer → … → newest ─┐
     *            ↑──────────────────────────┘
     *
     * Invariants:
     * C1  a block is committed iff it has a newer one, which may be itself
     * C2  all blocks of a ring have one name and group, and exactly one of them stands in a slot
     * C3  no empty slot is between the home of a name and its slot
     */

    private static final long MIX = 0x9E3779B97F4A7C15L;

    private long[] names = {};
    private byte[] groups = {};
    private int[] older = {};
    private int[] newer = {};
    private int[] slots = new int[16];
    private final boolean grouped;
    private int rings;
    private int size;

    /** Nothing committed; {@code groups} from 1 to 128. */
    CommittedBlocks(int groups) {
      grouped = groups > 1;
    }

    /** Blocks that are committed, copies included. */
    int size() {
      return size;
    }

    /** Names and groups that are committed, copies counted once. */
    int names() {
      return rings;
    }

    boolean contains(int block) {
      return block < newer.length && newer[block] != 0;
    }

    long name(int block) {
      return names[block];
    }

    int group(int block) {
      return grouped ? groups[block] : 0;
    }

    /** The oldest copy, or 0 if there is none. */
    int find(long name, int group) {
      return slots[slot(name, group)];
    }

    /**
     * Adds a block that is not committed as the newest copy.
     *
     * @param capacity above every block that may ever be added before the next call
     */
    void add(int block, long name, int group, int capacity) {
      reserve(capacity);
      names[block] = name;
      if (grouped) {
        groups[block] = (byte) group;
      }
      int slot = slot(name, group);
      int oldest = slots[slot];
      if (oldest == 0) {
        slots[slot] = block;
        older[block] = block;
        newer[block] = block;
        rings++;
      } else {
        int newest = older[oldest];
        newer[newest] = block;
        older[block] = newest;
        newer[block] = oldest;
        older[oldest] = block;
      }
      size++;
      if (4L * rings > 3L * slots.length) {
        rehash();
      }
    }

    /** Removes one copy. */
    void remove(int block) {
      int slot = slot(names[block], group(block));
      int after = newer[block];
      if (after == block) {
        close(slot);
        rings--;
      } else if (slots[slot] == block) {
        slots[slot] = after;
      }
      newer[older[block]] = after;
      older[after] = older[block];
      newer[block] = 0;
      size--;
    }

    void clear() {
      Arrays.fill(newer, 0);
      Arrays.fill(slots, 0);
      rings = 0;
      size = 0;
    }

    /** Fails if an invariant does not hold. */
    void checkInvariants() {
      int found = 0;
      for (int slot = 0; slot < slots.length; slot++) {
        int oldest = slots[slot];
        if (oldest != 0) {
          require(slot(names[oldest], group(oldest)) == slot, "C3", oldest);
          found += ring(oldest);
        }
      }
      for (int block = 0; block < newer.length; block++) {
        found -= newer[block] == 0 ? 0 : 1;
      }
      require(found == 0, "C2 blocks outside of rings", -found);
    }

    private int ring(int oldest) {
      int count = 0;
      int block = oldest;
      do {
        boolean same = names[block] == names[oldest] && group(block) == group(oldest);
        require(same && newer[older[block]] == block, "C2", block);
        count++;
        block = newer[block];
      } while (block != oldest);
      return count;
    }

    /** Where the name stands, or would stand. */
    private int slot(long name, int group) {
      int mask = slots.length - 1;
      int slot = home(name, group);
      while (slots[slot] != 0 && !isNamed(slots[slot], name, group)) {
        slot = (slot + 1) & mask;
      }
      return slot;
    }

    private boolean isNamed(int block, long name, int group) {
      return names[block] == name && (!grouped || groups[block] == group);
    }

    private int home(long name, int group) {
      long mixed = (name ^ group) * MIX;
      return (int) (mixed >>> (Long.numberOfLeadingZeros(slots.length) + 1));
    }

    /** Empties a slot; moves those behind it that could no longer be found. */
    private void close(int emptied) {
      int mask = slots.length - 1;
      int hole = emptied;
      int slot = (hole + 1) & mask;
      while (slots[slot] != 0) {
        int home = home(names[slots[slot]], group(slots[slot]));
        if (((slot - home) & mask) >= ((slot - hole) & mask)) {
          slots[hole] = slots[slot];
          hole = slot;
        }
        slot = (slot + 1) & mask;
      }
      slots[hole] = 0;
    }

    private void reserve(int capacity) {
      if (capacity > names.length) {
        names = Arrays.copyOf(names, capacity);
        groups = grouped ? Arrays.copyOf(groups, capacity) : groups;
        older = Arrays.copyOf(older, capacity);
        newer = Arrays.copyOf(newer, capacity);
      }
    }

    private void rehash() {
      int[] before = slots;
      slots = new int[2 * before.length];
      for (int oldest : before) {
        if (oldest != 0) {
          slots[slot(names[oldest], group(oldest))] = oldest;
        }
      }
    }

    private static void require(boolean holds, String what, int block) {
      if (!holds) {
        throw new IllegalStateException(what + " block=" + block);
      }
    }
  }
}
