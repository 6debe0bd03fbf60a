package dev.warmpath.kvindex.runs;

/** The buckets of a {@link HashTable}, which draws them: twelve entries in a cache line. */
final class HashBuckets {

  static final int BUCKET = 8;
  static final int SLOTS = 12;
  static final int REACH = 4;
  static final int OCCUPIED = (1 << SLOTS) - 1;
  static final int SLAB_SHIFT = 8;
  static final int AWAY_SHIFT = 44;
  static final long AWAY = 1L << AWAY_SHIFT;
  private static final int ENTRIES = 2;
  private static final int OCCUPIED_SHIFT = 32;
  private static final long BYTES = 0x0101010101010101L;
  private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;

  private HashBuckets() {}

  /** The occupied slots whose tags begin the same, without a branch. */
  static int same(long[] table, int bucket, int tag) {
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

  static int entry(long[] table, int bucket, int slot) {
    return (int) (table[bucket * BUCKET + ENTRIES + (slot >>> 1)] >>> ((slot & 1) << 5));
  }

  static int entryOf(int slab, int tag, int home) {
    return (slab << SLAB_SHIFT) | ((tag >>> 6) & 0xFC) | (home & 3);
  }

  /** Puts an entry into its home bucket or one of the next; false if all are full. */
  static boolean place(long[] table, int home, int tag, int slab) {
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

  static int free(long[] table, int bucket) {
    return ~(int) (table[bucket * BUCKET + 1] >>> OCCUPIED_SHIFT) & OCCUPIED;
  }

  static boolean vacate(long[] table, int bucket, int tag, int entry) {
    for (int slots = same(table, bucket, tag); slots != 0; slots &= slots - 1) {
      int slot = Integer.numberOfTrailingZeros(slots);
      if (entry(table, bucket, slot) == entry) {
        table[bucket * BUCKET + 1] &= ~(1L << (OCCUPIED_SHIFT + slot));
        return true;
      }
    }
    return false;
  }

  static int tagAt(long[] table, int bucket, int slot) {
    int low = (int) (table[bucket * BUCKET + (slot >>> 3)] >>> ((slot & 7) << 3)) & 0xFF;
    return low | ((entry(table, bucket, slot) & 0xFC) << 6);
  }

  static int homeOf(int entry, int bucket) {
    return bucket - ((bucket - entry) & 3);
  }
}
