package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.HashBuckets.AWAY;
import static dev.warmpath.kvindex.runs.HashBuckets.AWAY_SHIFT;
import static dev.warmpath.kvindex.runs.HashBuckets.BUCKET;
import static dev.warmpath.kvindex.runs.HashBuckets.OCCUPIED;
import static dev.warmpath.kvindex.runs.HashBuckets.REACH;
import static dev.warmpath.kvindex.runs.HashBuckets.SLAB_SHIFT;
import static dev.warmpath.kvindex.runs.HashBuckets.SLOTS;
import static dev.warmpath.kvindex.runs.HashBuckets.entry;
import static dev.warmpath.kvindex.runs.HashBuckets.entryOf;
import static dev.warmpath.kvindex.runs.HashBuckets.free;
import static dev.warmpath.kvindex.runs.HashBuckets.homeOf;
import static dev.warmpath.kvindex.runs.HashBuckets.place;
import static dev.warmpath.kvindex.runs.HashBuckets.same;
import static dev.warmpath.kvindex.runs.HashBuckets.tagAt;
import static dev.warmpath.kvindex.runs.HashBuckets.vacate;

import dev.warmpath.kvindex.runs.HashOverflow.Entry;
import java.util.Arrays;
import java.util.List;

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
  private static final int OVER_SHIFT = 52;
  private static final long OVER = 1L << OVER_SHIFT;
  private static final long OVER_FULL = (1 << 12) - 1;
  private static final int TAG_BITS = 14;
  private static final int MAX_LEVEL = 6;
  private static final int LEAST_BUCKETS = 8;
  private static final int MOST_LEAST_BUCKETS = 64;
  private static final int BYTES_PER_LEAST_BUCKET = 1 << 21;
  private static final double MAX_LOAD = 0.9;

  private final ByteBudget budget;
  private final SlabColumns columns;
  private final long multiplier;
  private final int leastBuckets;
  private final long[][] shards = new long[SHARDS][];
  private final int[] capacities = new int[SHARDS];
  private final int[] levels = new int[SHARDS];
  private final int[] sizes = new int[SHARDS];
  private final int[] limits = new int[SHARDS];
  private final HashOverflow overflow;

  /** Blocks of a shard that is laid out, empty in between; so its bytes are not counted. */
  private final IntVector moving = new IntVector(new ByteBudget(Long.MAX_VALUE));

  private int[] found = new int[8];
  private int pendingSlab = 1;
  private int pendingBlocks;

  /** Keeps the compiler from leaving {@link #prefetch} out. */
  @SuppressWarnings("unused")
  private long sink;

  /**
   * @param multiplier odd; secret, so that nobody can aim at one place
   */
  public HashTable(ByteBudget budget, SlabColumns columns, long multiplier) {
    this.budget = budget;
    this.columns = columns;
    this.multiplier = multiplier | 1;
    leastBuckets = leastBuckets(budget.maxBytes());
    overflow = new HashOverflow(budget, TAG_BITS);
    for (int i = 0; i < SHARDS; i++) {
      capacities[i] = smallest(i);
      resize(i);
    }
  }

  /**
   * Looks at the places of hashes that are about to be listed or taken out. Each of these looks may
   * miss all caches, but none waits for another; the later ones, which branch on what they see,
   * then find it near.
   */
  public void prefetch(long[] hashes, int from, int to) {
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

  /** What its arrays take, counted from them. */
  public long bytes() {
    long bytes = overflow.bytes();
    for (long[] shard : shards) {
      bytes += 8L * shard.length + 16;
    }
    return bytes;
  }

  /** Makes an empty table as large as it would be with so many blocks, without growing there. */
  public void reserve(long blocks) {
    for (int shard = 0; shard < SHARDS; shard++) {
      int buckets = capacities[shard];
      while (limit(buckets) < blocks / SHARDS) {
        buckets *= 2;
      }
      if (buckets > capacities[shard]) {
        capacities[shard] = buckets;
        resize(shard);
      }
    }
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
    int[] slabs = overflow.get(shard, home, tag(mixed));
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

  private void addOverflow(int shard, int home, int tag, int slab) {
    overflow.add(shard, home, tag, slab);
    long[] table = shards[shard];
    if (table[home * BUCKET + 1] >>> OVER_SHIFT != OVER_FULL) {
      table[home * BUCKET + 1] += OVER;
    }
  }

  private void removeOverflow(int shard, int home, int tag, int slab) {
    overflow.remove(shard, home, tag, slab);
    long[] table = shards[shard];
    if (table[home * BUCKET + 1] >>> OVER_SHIFT != OVER_FULL) {
      table[home * BUCKET + 1] -= OVER;
    }
  }

  private void grow(int shard) {
    if (levels[shard] < MAX_LEVEL) {
      split(shard);
    } else {
      layOut(shard, capacities[shard] << (levels[shard] + 1));
    }
  }

  /** Doubles a shard: each entry goes where the next bit of its tag tells. */
  private void split(int shard) {
    long[] old = shards[shard];
    // First of all: the new number of one home may be the old number of another.
    List<Entry> elsewhere = overflow.takeAll(shard);
    levels[shard]++;
    resize(shard);
    for (int bucket = 0; bucket < old.length / BUCKET; bucket++) {
      for (int slots = ~free(old, bucket) & OCCUPIED; slots != 0; slots &= slots - 1) {
        int slot = Integer.numberOfTrailingZeros(slots);
        int entry = entry(old, bucket, slot);
        split(shard, homeOf(entry, bucket), tagAt(old, bucket, slot), entry >>> SLAB_SHIFT);
      }
    }
    elsewhere.forEach(entry -> split(shard, entry.home(), entry.tag(), entry.slab()));
  }

  private void split(int shard, int oldHome, int tag, int slab) {
    int home = (oldHome << 1) | ((tag >>> (TAG_BITS - levels[shard])) & 1);
    if (!place(shards[shard], home, tag, slab)) {
      addOverflow(shard, home, tag, slab);
    }
  }

  /** Makes a shard anew at level 0, from the hashes of its blocks. */
  private void layOut(int shard, int buckets) {
    long[] old = shards[shard];
    moving.clear();
    for (int bucket = 0; bucket < old.length / BUCKET; bucket++) {
      for (int slots = ~free(old, bucket) & OCCUPIED; slots != 0; slots &= slots - 1) {
        int slot = Integer.numberOfTrailingZeros(slots);
        int entry = entry(old, bucket, slot);
        takeOut(shard, homeOf(entry, bucket), tagAt(old, bucket, slot), entry >>> SLAB_SHIFT);
      }
    }
    overflow
        .takeAll(shard)
        .forEach(entry -> takeOut(shard, entry.home(), entry.tag(), entry.slab()));
    capacities[shard] = buckets;
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

  private void resize(int shard) {
    int before = shards[shard] == null ? 0 : shards[shard].length;
    int buckets = capacities[shard] << levels[shard];
    shards[shard] = new long[(buckets + REACH - 1) * BUCKET];
    limits[shard] = limit(buckets);
    budget.force(8L * (shards[shard].length - before) + (before == 0 ? 16 : 0));
  }

  private int smallest(int shard) {
    return leastBuckets + leastBuckets * shard / SHARDS;
  }

  /**
   * Buckets of an empty shard. Laying out is dear and comes at 64 times as many: with plenty of
   * room only beyond three million blocks. With less room, less is taken.
   */
  private static int leastBuckets(long maxBytes) {
    long buckets = maxBytes / BYTES_PER_LEAST_BUCKET;
    return (int) Math.max(LEAST_BUCKETS, Math.min(MOST_LEAST_BUCKETS, buckets));
  }

  private static int limit(int buckets) {
    return (int) (buckets * SLOTS * MAX_LOAD);
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
