package dev.warmpath.simulator.engine;

import java.util.Arrays;

/**
 * Finds the committed blocks of all groups by their names.
 *
 * <p>Single writer.
 */
final class CommittedBlocks {

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
