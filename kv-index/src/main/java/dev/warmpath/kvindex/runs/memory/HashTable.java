package dev.warmpath.kvindex.runs.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Engine hash → the blocks that are listed under it.
 *
 * <p>A block's own hash is not in the table but in its slab, and the slab knows which of its blocks
 * are listed here.
 *
 * <p>Single writer; no reader ever comes here.
 */
public final class HashTable {

  /*
   * 64 shards of buckets; a bucket is 8 longs, a cache line:
   *
   *   long 0       tags of slots 0 … 7, a byte each
   *   long 1       tags of slots 8 … 11 | occupied slots (12 bits) | how many of this home are in
   *                the next buckets (8 bits) | … and in the overflow map (12 bits; full stays full)
   *   long 2 … 7   twelve entries: slab (24 bits) | more of the tag (6) | home bucket mod 4 (2)
   *
   * I1  an entry lies in its home bucket, in one of the next three, or in the overflow map
   * I2  its last two bits tell which, so its home is known without its hash
   * I3  entries of the same slab, tag and home are alike: which block each stands for is all the same
   *
   * All tags of a bucket are compared at once, and a false alarm is rare, so listing and taking out
   * branch on almost nothing that depends on the hashes.
   *
   *   mixed hash   shard (6 bits) | base (32 bits) | … | tag (14 bits) | …
   *   home         base · capacity / 2^32, then the first `level` bits of the tag
   *
   * A full shard doubles: each entry's tag tells which half of its bucket it goes to, so no slab is
   * looked at. After six doublings the tag has too few bits left to tell entries apart, and the shard
   * is laid out anew. Shards begin at different capacities: at any time some are full and others have
   * just doubled, so the bytes of the whole grow smoothly. The overflow map is for dozens of blocks of
   * the same hash, or for an enemy who knows the multiplier.
   */

  private static final int SHARD_BITS = 6;
  private static final int SHARDS = 1 << SHARD_BITS;
  private static final int BUCKET = 8;
  private static final int SLOTS = 12;
  private static final int ENTRIES = 2;
  private static final int OCCUPIED = (1 << SLOTS) - 1;
  private static final int OCCUPIED_SHIFT = 32;
  private static final int AWAY_SHIFT = 44;
  private static final long AWAY = 1L << AWAY_SHIFT;
  private static final int OVER_SHIFT = 52;
  private static final long OVER = 1L << OVER_SHIFT;
  private static final long OVER_FULL = (1 << 12) - 1;
  private static final int REACH = 4;
  private static final long BYTES = 0x0101010101010101L;
  private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;
  private static final int SLAB_SHIFT = 8;
  private static final int TAG_BITS = 14;
  private static final int MAX_LEVEL = 6;
  private static final int MIN_CAPACITY = 1;
  private static final double MAX_LOAD = 0.9;
  private static final long OVERFLOW_BYTES = 32;

  private final ByteBudget budget;
  private final SlabColumns columns;
  private final long multiplier;
  private final long[][] shards = new long[SHARDS][];
  private final int[] capacities = new int[SHARDS];
  private final int[] levels = new int[SHARDS];
  private final int[] sizes = new int[SHARDS];
  private final int[] limits = new int[SHARDS];
  private final LongMap<int[]> overflow;
  private final IntVector moving;
  private int[] found = new int[8];
  private int pendingSlab = 1;
  private int pendingBlocks;

  /** Keeps the compiler from leaving {@link #approach} out. */
  @SuppressWarnings("unused")
  private long sink;

  /**
   * @param multiplier odd; secret, so that nobody can aim at one place
   */
  public HashTable(ByteBudget budget, SlabColumns columns, long multiplier) {
    this.budget = budget;
    this.columns = columns;
    this.multiplier = multiplier | 1;
    overflow = new LongMap<>(budget);
    moving = new IntVector(budget);
    for (int i = 0; i < SHARDS; i++) {
      capacities[i] = MIN_CAPACITY * 8 + MIN_CAPACITY * 8 * i / SHARDS;
      resize(i);
    }
  }

  /**
   * Looks at the places of hashes that are about to be listed or taken out. Each of these looks may
   * miss all caches, but none waits for another; the later ones, which branch on what they see,
   * then find it near.
   */
  public void approach(long[] hashes, int from, int to) {
    long seen = 0;
    for (int i = from; i < to; i++) {
      long mixed = hashes[i] * multiplier;
      int shard = shard(mixed);
      seen += shards[shard][home(mixed, shard) * BUCKET];
    }
    sink = seen;
  }

  /**
   * Lists blocks {@code from … to − 1} of a slab, whose hashes stand there already; stops before
   * one whose hash is listed for another block. Returns how many it listed.
   */
  public int add(int slab, int from, int to) {
    long[] hashes = columns.hashes(slab);
    int at = SlabColumns.at(slab);
    pendingSlab = slab;
    int block = from;
    while (block < to && add(hashes[at + block], slab, false)) {
      pendingBlocks |= 1 << block;
      block++;
    }
    settlePending();
    return block - from;
  }

  /** Lists a block although its hash is listed for another block too. */
  public void addTwin(int slab, int block) {
    add(hash(slab, block), slab, true);
    columns.list(slab, 1 << block);
  }

  /** Takes out what was listed of a slab: these blocks, one bit each. */
  public void remove(int slab, int blocks) {
    long[] hashes = columns.hashes(slab);
    int at = SlabColumns.at(slab);
    columns.unlist(slab, blocks);
    for (int left = blocks; left != 0; left &= left - 1) {
      remove(hashes[at + Integer.numberOfTrailingZeros(left)], slab);
    }
  }

  /** Finds the listed blocks of {@code hash}, which {@link #found} gives; returns their number. */
  public int find(long hash) {
    long mixed = hash * multiplier;
    int shard = shard(mixed);
    long[] table = shards[shard];
    int home = home(mixed, shard);
    int count = collect(table, home, home, mixed, 0);
    if (table[home * BUCKET + 1] >>> AWAY_SHIFT != 0) {
      for (int i = 1; i < REACH; i++) {
        count = collect(table, home + i, home, mixed, count);
      }
      count = collectOverflow(shard, home, mixed, count);
    }
    return count;
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

  /** Enters one block; false if another one has this hash and {@code twin} is not set. */
  private boolean add(long hash, int slab, boolean twin) {
    long mixed = hash * multiplier;
    int shard = shard(mixed);
    if (sizes[shard] >= limits[shard]) {
      settlePending();
      grow(shard);
    }
    int home = home(mixed, shard);
    int tag = tag(mixed);
    long[] table = shards[shard];
    if (!twin && isListed(table, home, mixed, shard)) {
      return false;
    }
    sizes[shard]++;
    if (!place(table, home, tag, slab)) {
      addOverflow(shard, home, tag, slab);
    }
    return true;
  }

  /** The slab is told of all its newly listed blocks at once, but before anybody asks it. */
  private void settlePending() {
    columns.list(pendingSlab, pendingBlocks);
    pendingBlocks = 0;
  }

  private boolean isListed(long[] table, int home, long mixed, int shard) {
    int tag = tag(mixed);
    if (same(table, home, tag) != 0 && collect(table, home, home, mixed, 0) > 0) {
      return true;
    }
    long elsewhere = table[home * BUCKET + 1] >>> AWAY_SHIFT;
    if (elsewhere == 0) {
      return false;
    }
    for (int i = 1; i < REACH; i++) {
      if (same(table, home + i, tag) != 0 && collect(table, home + i, home, mixed, 0) > 0) {
        return true;
      }
    }
    return elsewhere >= OVER >>> AWAY_SHIFT && collectOverflow(shard, home, mixed, 0) > 0;
  }

  /** The occupied slots whose tags begin the same, without a branch. */
  private static int same(long[] table, int bucket, int tag) {
    int at = bucket * BUCKET;
    long tags = (tag & 0xFF) * BYTES;
    long high = table[at + 1];
    int same = zeroBytes(table[at] ^ tags) | zeroBytes(high ^ tags) << 8;
    return same & (int) (high >>> OCCUPIED_SHIFT) & OCCUPIED;
  }

  /** A bit for each byte that is zero. */
  private static int zeroBytes(long bytes) {
    long zero = ~(((bytes & LOW_BITS) + LOW_BITS) | bytes | LOW_BITS);
    return (int) (((zero >>> 7) * 0x0102040810204080L) >>> 56);
  }

  private static int entry(long[] table, int bucket, int slot) {
    return (int) (table[bucket * BUCKET + ENTRIES + (slot >>> 1)] >>> ((slot & 1) << 5));
  }

  private static int entryOf(int slab, int tag, int home) {
    return (slab << SLAB_SHIFT) | ((tag >>> 6) & 0xFC) | (home & 3);
  }

  /** Collects the blocks of a bucket that have this hash and home. */
  private int collect(long[] table, int bucket, int home, long mixed, int countBefore) {
    int count = countBefore;
    int rest = entryOf(0, tag(mixed), home);
    for (int slots = same(table, bucket, tag(mixed)); slots != 0; slots &= slots - 1) {
      int entry = entry(table, bucket, Integer.numberOfTrailingZeros(slots));
      if ((entry & 0xFF) == rest) {
        count = collect(entry >>> SLAB_SHIFT, mixed, count);
      }
    }
    return count;
  }

  private int collectOverflow(int shard, int home, long mixed, int countBefore) {
    int[] slabs = overflow.get(overflowKey(shard, home, tag(mixed)));
    int count = countBefore;
    for (int i = 0; slabs != null && i < slabs.length; i++) {
      count = collect(slabs[i], mixed, count);
    }
    return count;
  }

  private int collect(int slab, long mixed, int count) {
    long[] hashes = columns.hashes(slab);
    int at = SlabColumns.at(slab);
    int collected = count;
    int pending = slab == pendingSlab ? pendingBlocks : 0;
    for (int listed = columns.listed(slab) | pending; listed != 0; listed &= listed - 1) {
      int block = Integer.numberOfTrailingZeros(listed);
      if (hashes[at + block] * multiplier == mixed) {
        collected = collect(slab * SlabColumns.BLOCKS + block, collected);
      }
    }
    return collected;
  }

  private int collect(int block, int count) {
    for (int i = 0; i < count; i++) {
      if (found[i] == block) {
        return count;
      }
    }
    if (count == found.length) {
      found = Arrays.copyOf(found, 2 * count);
    }
    found[count] = block;
    return count + 1;
  }

  /** Puts an entry into its home bucket or one of the next; false if all are full. */
  private static boolean place(long[] table, int home, int tag, int slab) {
    int free = free(table, home);
    int bucket = home;
    while (free == 0) {
      bucket++;
      if (bucket == home + REACH) {
        return false;
      }
      free = free(table, bucket);
    }
    if (bucket != home) {
      table[home * BUCKET + 1] += AWAY;
    }
    fill(table, bucket * BUCKET, Integer.numberOfTrailingZeros(free), tag & 0xFF);
    int slot = Integer.numberOfTrailingZeros(free);
    int at = bucket * BUCKET + ENTRIES + (slot >>> 1);
    int shift = (slot & 1) << 5;
    long entry = entryOf(slab, tag, home) & 0xFFFFFFFFL;
    table[at] = (table[at] & ~(0xFFFFFFFFL << shift)) | (entry << shift);
    return true;
  }

  private static void fill(long[] table, int at, int slot, long tag) {
    int word = at + (slot >>> 3);
    int shift = (slot & 7) << 3;
    table[word] = (table[word] & ~(0xFFL << shift)) | (tag << shift);
    table[at + 1] |= 1L << (OCCUPIED_SHIFT + slot);
  }

  private static int free(long[] table, int bucket) {
    return ~(int) (table[bucket * BUCKET + 1] >>> OCCUPIED_SHIFT) & OCCUPIED;
  }

  private void remove(long hash, int slab) {
    long mixed = hash * multiplier;
    int shard = shard(mixed);
    long[] table = shards[shard];
    int home = home(mixed, shard);
    sizes[shard]--;
    int entry = entryOf(slab, tag(mixed), home);
    if (vacate(table, home, tag(mixed), entry)) {
      return;
    }
    for (int i = 1; i < REACH; i++) {
      if (vacate(table, home + i, tag(mixed), entry)) {
        table[home * BUCKET + 1] -= AWAY;
        return;
      }
    }
    removeOverflow(shard, home, tag(mixed), slab);
  }

  private static boolean vacate(long[] table, int bucket, int tag, int entry) {
    for (int slots = same(table, bucket, tag); slots != 0; slots &= slots - 1) {
      int slot = Integer.numberOfTrailingZeros(slots);
      if (entry(table, bucket, slot) == entry) {
        table[bucket * BUCKET + 1] &= ~(1L << (OCCUPIED_SHIFT + slot));
        return true;
      }
    }
    return false;
  }

  private void addOverflow(int shard, int home, int tag, int slab) {
    long key = overflowKey(shard, home, tag);
    int[] slabs = overflow.get(key);
    int length = slabs == null ? 0 : slabs.length;
    int[] more = slabs == null ? new int[1] : Arrays.copyOf(slabs, length + 1);
    more[length] = slab;
    overflow.put(key, more);
    long[] table = shards[shard];
    if (table[home * BUCKET + 1] >>> OVER_SHIFT != OVER_FULL) {
      table[home * BUCKET + 1] += OVER;
    }
    budget.force(OVERFLOW_BYTES);
  }

  private void removeOverflow(int shard, int home, int tag, int slab) {
    long key = overflowKey(shard, home, tag);
    int[] slabs = overflow.get(key);
    int at = 0;
    while (slabs != null && at < slabs.length && slabs[at] != slab) {
      at++;
    }
    if (slabs == null || at == slabs.length) {
      throw new IllegalStateException("slab=" + slab + " is not listed in shard=" + shard);
    }
    slabs[at] = slabs[slabs.length - 1];
    if (slabs.length == 1) {
      overflow.remove(key);
    } else {
      overflow.put(key, Arrays.copyOf(slabs, slabs.length - 1));
    }
    long[] table = shards[shard];
    if (table[home * BUCKET + 1] >>> OVER_SHIFT != OVER_FULL) {
      table[home * BUCKET + 1] -= OVER;
    }
    budget.give(OVERFLOW_BYTES);
  }

  private static long overflowKey(int shard, int home, int tag) {
    return ((long) shard << 56) | ((long) home << TAG_BITS) | tag;
  }

  private void grow(int shard) {
    if (levels[shard] < MAX_LEVEL) {
      split(shard);
    } else {
      layOut(shard);
    }
  }

  /** Doubles a shard: each entry goes where the next bit of its tag tells. */
  private void split(int shard) {
    long[] old = shards[shard];
    // First of all: the new number of one home may be the old number of another.
    Map<Long, int[]> elsewhere = takeOverflow(shard);
    levels[shard]++;
    resize(shard);
    for (int bucket = 0; bucket < old.length / BUCKET; bucket++) {
      for (int slots = ~free(old, bucket) & OCCUPIED; slots != 0; slots &= slots - 1) {
        int slot = Integer.numberOfTrailingZeros(slots);
        int entry = entry(old, bucket, slot);
        split(shard, homeOf(entry, bucket), tagAt(old, bucket, slot), entry >>> SLAB_SHIFT);
      }
    }
    elsewhere.forEach((key, slabs) -> {
      for (int slab : slabs) {
        split(shard, homeOf(key), tagOf(key), slab);
      }
    });
  }

  private void split(int shard, int oldHome, int tag, int slab) {
    int home = (oldHome << 1) | ((tag >>> (TAG_BITS - levels[shard])) & 1);
    if (!place(shards[shard], home, tag, slab)) {
      addOverflow(shard, home, tag, slab);
    }
  }

  /** Makes a shard anew at level 0, from the hashes of its blocks. */
  private void layOut(int shard) {
    long[] old = shards[shard];
    moving.clear();
    for (int bucket = 0; bucket < old.length / BUCKET; bucket++) {
      for (int slots = ~free(old, bucket) & OCCUPIED; slots != 0; slots &= slots - 1) {
        int slot = Integer.numberOfTrailingZeros(slots);
        int entry = entry(old, bucket, slot);
        takeOut(shard, homeOf(entry, bucket), tagAt(old, bucket, slot), entry >>> SLAB_SHIFT);
      }
    }
    takeOverflow(shard)
        .forEach((key, slabs) -> {
          for (int slab : slabs) {
            takeOut(shard, homeOf(key), tagOf(key), slab);
          }
        });
    capacities[shard] <<= levels[shard] + 1;
    levels[shard] = 0;
    resize(shard);
    while (moving.size() > 0) {
      int block = moving.removeLast();
      enter(hash(block >>> 3, block & 7) * multiplier, shard, block);
    }
  }

  /**
   * Unlists one of the alike blocks of an entry, so that it is not taken again for the next one.
   */
  private void takeOut(int shard, int home, int tag, int slab) {
    for (int listed = columns.listed(slab); listed != 0; listed &= listed - 1) {
      int block = Integer.numberOfTrailingZeros(listed);
      long mixed = hash(slab, block) * multiplier;
      if (tag(mixed) == tag && shard(mixed) == shard && home(mixed, shard) == home) {
        columns.unlist(slab, 1 << block);
        moving.add(slab * SlabColumns.BLOCKS + block);
        return;
      }
    }
    throw new IllegalStateException("slab=" + slab + " lists too little in shard=" + shard);
  }

  private void enter(long mixed, int shard, int block) {
    int home = home(mixed, shard);
    columns.list(block >>> 3, 1 << (block & 7));
    if (!place(shards[shard], home, tag(mixed), block >>> 3)) {
      addOverflow(shard, home, tag(mixed), block >>> 3);
    }
  }

  /** Takes out what the overflow map has of a shard. */
  private Map<Long, int[]> takeOverflow(int shard) {
    List<Long> keys = new ArrayList<>();
    overflow.forEachKey(key -> {
      if (key >>> 56 == shard) {
        keys.add(key);
      }
    });
    Map<Long, int[]> taken = new HashMap<>();
    for (long key : keys) {
      int[] slabs = overflow.remove(key);
      if (slabs != null) {
        budget.give(OVERFLOW_BYTES * slabs.length);
        taken.put(key, slabs);
      }
    }
    return taken;
  }

  private static int homeOf(long overflowKey) {
    return (int) ((overflowKey >>> TAG_BITS) & Integer.MAX_VALUE);
  }

  private static int tagOf(long overflowKey) {
    return (int) overflowKey & ((1 << TAG_BITS) - 1);
  }

  private void resize(int shard) {
    int before = shards[shard] == null ? 0 : shards[shard].length;
    int buckets = capacities[shard] << levels[shard];
    shards[shard] = new long[(buckets + REACH - 1) * BUCKET];
    limits[shard] = (int) (buckets * SLOTS * MAX_LOAD);
    budget.force(8L * (shards[shard].length - before) + (before == 0 ? 16 : 0));
  }

  private static int homeOf(int entry, int bucket) {
    return bucket - ((bucket - entry) & 3);
  }

  private static int tagAt(long[] table, int bucket, int slot) {
    int low = (int) (table[bucket * BUCKET + (slot >>> 3)] >>> ((slot & 7) << 3)) & 0xFF;
    return low | ((entry(table, bucket, slot) & 0xFC) << 6);
  }

  private long hash(int slab, int block) {
    return columns.hashes(slab)[SlabColumns.at(slab) + block];
  }

  private static int shard(long mixed) {
    return (int) (mixed >>> (64 - SHARD_BITS));
  }

  private int home(long mixed, int shard) {
    int base = (int) ((((mixed << SHARD_BITS) >>> 32) * capacities[shard]) >>> 32);
    int level = levels[shard];
    return (base << level) | (tag(mixed) >>> (TAG_BITS - level));
  }

  private static int tag(long mixed) {
    return (int) (mixed >>> 11) & ((1 << TAG_BITS) - 1);
  }
}
