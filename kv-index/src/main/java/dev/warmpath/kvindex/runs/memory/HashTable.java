package dev.warmpath.kvindex.runs.memory;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Engine hash → the slabs that hold a block of this hash; one int for each listed block.
 *
 * <p>A block's own hash is not in the table but in its slab, and the slab knows which of its blocks
 * are listed here.
 *
 * <p>Single writer; no reader ever comes here.
 */
public final class HashTable {

  /*
   * Robin Hood hashing in independent shards, so that growing one is a short pause:
   *
   *   entry   slab (24 bits) | tag (3) | distance from home (5);  0 is empty
   *
   * I1  the entries of a shard are ordered by their home, so a look-up ends at the first entry that
   *     is nearer to its home than the wanted one would be
   * I2  the distance tells an entry's home, so a removal moves its followers back without looking
   *     at their hashes
   * I3  what would lie MAX_DISTANCE or farther from its home lies in the overflow map. That takes
   *     dozens of blocks of the same hash, or an enemy who knows the multiplier
   *
   * Shards begin at different capacities: at any time some are full and others have just grown, so
   * the bytes of the whole grow smoothly.
   */

  private static final int SHARD_BITS = 9;
  private static final int SHARDS = 1 << SHARD_BITS;
  private static final int MAX_DISTANCE = 32;
  private static final int DISTANCE = MAX_DISTANCE - 1;
  private static final int TAG = 7 << 5;
  private static final int SLAB_SHIFT = 8;
  private static final int MIN_CAPACITY = 16;
  private static final double GROWTH = 1.4;
  private static final double MAX_LOAD = 0.8;
  private static final long OVERFLOW_BYTES = 96;

  private final ByteBudget budget;
  private final SlabColumns columns;
  private final long multiplier;
  private final int[][] shards = new int[SHARDS][];
  private final int[] sizes = new int[SHARDS];
  private final int[] limits = new int[SHARDS];
  private final Map<Long, int[]> overflow = new HashMap<>();
  private int[] found = new int[8];
  private long pending;

  /**
   * @param multiplier odd; secret, so that nobody can aim at one place
   */
  public HashTable(ByteBudget budget, SlabColumns columns, long multiplier) {
    this.budget = budget;
    this.columns = columns;
    this.multiplier = multiplier | 1;
    for (int i = 0; i < SHARDS; i++) {
      int capacity = (int) (MIN_CAPACITY * Math.pow(GROWTH, (double) i / SHARDS));
      shards[i] = new int[capacity + MAX_DISTANCE];
      limits[i] = (int) (capacity * MAX_LOAD);
      budget.force(4L * shards[i].length + 16);
    }
  }

  /** Lists a block, whose hash stands in its slab already. */
  public void add(long hash, int slab, int block) {
    long mixed = hash * multiplier;
    int shard = (int) (mixed >>> 64 - SHARD_BITS);
    if (sizes[shard] >= limits[shard]) {
      grow(shard);
    }
    sizes[shard]++;
    pending = hash;
    int[] table = shards[shard];
    place(table, home(mixed, table), slab << SLAB_SHIFT | tag(mixed));
    columns.flip(slab, block);
  }

  /** Takes out what {@link #add} listed. */
  public void remove(long hash, int slab, int block) {
    columns.flip(slab, block);
    long mixed = hash * multiplier;
    int shard = (int) (mixed >>> 64 - SHARD_BITS);
    int[] table = shards[shard];
    int at = home(mixed, table);
    int wanted = slab << SLAB_SHIFT | tag(mixed);
    sizes[shard]--;
    for (int distance = 0; distance < MAX_DISTANCE; distance++, at++) {
      if (table[at] == (wanted | distance)) {
        closeGap(table, at);
        return;
      }
    }
    removeOverflow(hash, slab, shard);
  }

  /** Finds the listed blocks of {@code hash}, which {@link #found} gives; returns their number. */
  public int find(long hash) {
    long mixed = hash * multiplier;
    int[] table = shards[(int) (mixed >>> 64 - SHARD_BITS)];
    int at = home(mixed, table);
    int tag = tag(mixed);
    int count = 0;
    for (int distance = 0; distance < MAX_DISTANCE; distance++, at++) {
      int entry = table[at];
      if (entry == 0 || (entry & DISTANCE) < distance) {
        break;
      }
      if ((entry & (TAG | DISTANCE)) == (tag | distance)) {
        count = collect(entry >>> SLAB_SHIFT, hash, count);
      }
    }
    return overflow.isEmpty() ? count : collectOverflow(hash, count);
  }

  /** The {@code index}th block of the last {@link #find}: slab · 8 + place in the slab. */
  public int found(int index) {
    return found[index];
  }

  /** Listed blocks. */
  public long size() {
    long size = 0;
    for (int shardSize : sizes) {
      size += shardSize;
    }
    return size;
  }

  private int collect(int slab, long hash, int count) {
    long[] hashes = columns.hashes(slab);
    int at = SlabColumns.at(slab);
    int listed = columns.listed(slab);
    int collected = count;
    for (int i = 0; i < SlabColumns.BLOCKS; i++) {
      if (hashes[at + i] == hash && (listed >>> i & 1) != 0) {
        collected = collect(slab * SlabColumns.BLOCKS + i, collected);
      }
    }
    return collected;
  }

  private int collect(int position, int count) {
    for (int i = 0; i < count; i++) {
      if (found[i] == position) {
        return count;
      }
    }
    if (count == found.length) {
      found = Arrays.copyOf(found, 2 * count);
    }
    found[count] = position;
    return count + 1;
  }

  private int collectOverflow(long hash, int count) {
    int collected = count;
    for (int slab : overflow.getOrDefault(hash, new int[0])) {
      collected = collect(slab, hash, collected);
    }
    return collected;
  }

  /** Puts the entry where its home says and moves on those that are nearer to theirs. */
  private void place(int[] table, int home, int entryAtHome) {
    int entry = entryAtHome;
    int at = home;
    while (true) {
      int other = table[at];
      if (other == 0) {
        table[at] = entry;
        return;
      }
      if ((other & DISTANCE) < (entry & DISTANCE)) {
        table[at] = entry;
        entry = other;
      }
      if ((entry & DISTANCE) == DISTANCE) {
        overflow(entry, at - DISTANCE, table);
        return;
      }
      entry++;
      at++;
    }
  }

  private static void closeGap(int[] table, int gap) {
    int at = gap;
    while ((table[at + 1] & DISTANCE) != 0) {
      table[at] = table[at + 1] - 1;
      at++;
    }
    table[at] = 0;
  }

  /** Which of several blocks with this home and tag goes is all the same: none is nearer. */
  private void overflow(int entry, int home, int[] table) {
    int slab = entry >>> SLAB_SHIFT;
    int shard = (int) (pending * multiplier >>> 64 - SHARD_BITS);
    int block = blockOf(entry, home, table.length - MAX_DISTANCE, shard, 0);
    addOverflow(block < 0 ? pending : hash(slab, block), slab);
  }

  /** The listed block for which an entry stands, after passing over {@code rank}; −1 if none. */
  private int blockOf(int entry, int home, int capacity, int shard, int rank) {
    int slab = entry >>> SLAB_SHIFT;
    int listed = columns.listed(slab);
    int left = rank;
    for (int i = 0; i < SlabColumns.BLOCKS; i++) {
      if ((listed >>> i & 1) != 0 && isAt(hash(slab, i), home, entry & TAG, capacity, shard)) {
        if (left == 0) {
          return i;
        }
        left--;
      }
    }
    return -1;
  }

  private boolean isAt(long hash, int home, int tag, int capacity, int shard) {
    long mixed = hash * multiplier;
    return (int) (mixed >>> 64 - SHARD_BITS) == shard
        && home(mixed, capacity) == home
        && tag(mixed) == tag;
  }

  private long hash(int slab, int block) {
    return columns.hashes(slab)[SlabColumns.at(slab) + block];
  }

  private void addOverflow(long hash, int slab) {
    int[] slabs = overflow.getOrDefault(hash, new int[0]);
    int[] more = Arrays.copyOf(slabs, slabs.length + 1);
    more[slabs.length] = slab;
    overflow.put(hash, more);
    budget.force(OVERFLOW_BYTES);
  }

  private void removeOverflow(long hash, int slab, int shard) {
    if (removeOverflow(hash, slab)) {
      return;
    }
    int capacity = shards[shard].length - MAX_DISTANCE;
    long mixed = hash * multiplier;
    for (int i = 0; i < SlabColumns.BLOCKS; i++) {
      long other = hash(slab, i);
      if (isAt(other, home(mixed, capacity), tag(mixed), capacity, shard)
          && removeOverflow(other, slab)) {
        return;
      }
    }
    throw new IllegalStateException("hash=" + hash + " slab=" + slab + " is not listed");
  }

  private boolean removeOverflow(long hash, int slab) {
    int[] slabs = overflow.getOrDefault(hash, new int[0]);
    for (int i = 0; i < slabs.length; i++) {
      if (slabs[i] == slab) {
        slabs[i] = slabs[slabs.length - 1];
        if (slabs.length == 1) {
          overflow.remove(hash);
        } else {
          overflow.put(hash, Arrays.copyOf(slabs, slabs.length - 1));
        }
        budget.give(OVERFLOW_BYTES);
        return true;
      }
    }
    return false;
  }

  /** Moves the entries of a shard to a larger one, each under the hash that it stands for. */
  private void grow(int shard) {
    int[] old = shards[shard];
    int capacity = (int) ((old.length - MAX_DISTANCE) * GROWTH) + 1;
    int[] table = new int[capacity + MAX_DISTANCE];
    budget.force(4L * (table.length - old.length));
    shards[shard] = table;
    limits[shard] = (int) (capacity * MAX_LOAD);
    for (int at = 0; at < old.length; at++) {
      if (old[at] != 0) {
        move(old, at, shard);
      }
    }
  }

  private void move(int[] old, int at, int shard) {
    int entry = old[at] & ~DISTANCE;
    int home = at - (old[at] & DISTANCE);
    int rank = 0;
    for (int before = home; before < at; before++) {
      if (old[before] == (entry | before - home)) {
        rank++;
      }
    }
    int block = blockOf(entry, home, old.length - MAX_DISTANCE, shard, rank);
    if (block < 0) {
      throw new IllegalStateException("slab=" + (entry >>> SLAB_SHIFT) + " lists too little");
    }
    long mixed = hash(entry >>> SLAB_SHIFT, block) * multiplier;
    pending = hash(entry >>> SLAB_SHIFT, block);
    place(shards[shard], home(mixed, shards[shard]), entry);
  }

  private static int home(long mixed, int[] table) {
    return home(mixed, table.length - MAX_DISTANCE);
  }

  private static int home(long mixed, int capacity) {
    return (int) (((mixed << SHARD_BITS) >>> 32) * capacity >>> 32);
  }

  private static int tag(long mixed) {
    return (int) (mixed >>> 16) & TAG;
  }
}
