package dev.warmpath.kvindex.runs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * (run, offset, local hash of the next block) → the run that goes on there.
 *
 * <p>Readers find candidates, check them against their headers, and trust a miss only if the parent
 * run's version stands still: the writer changes it with each child that comes or goes.
 *
 * <p>Single writer, many readers.
 */
final class ChildTable {

  /*
   * Open addressing in shards; an entry is the upper half of the key's hash and the run. A removed
   * entry leaves a tombstone, so that readers who probe meanwhile miss nothing. A full shard is
   * copied to a new array without its tombstones; readers of the old one miss only children that
   * came later, and those changed their parents' versions.
   */

  private static final int SHARD_BITS = 6;
  private static final int SHARDS = 1 << SHARD_BITS;
  private static final int MIN_CAPACITY = 16;
  private static final long TOMBSTONE = 1L << 32;
  private static final VarHandle LONG = MethodHandles.arrayElementVarHandle(long[].class);
  private static final VarHandle TABLE = MethodHandles.arrayElementVarHandle(long[][].class);

  private final ByteBudget budget;
  private final long multiplier;
  private final long[][] shards = new long[SHARDS][MIN_CAPACITY];
  private final int[] used = new int[SHARDS];
  private final int[] live = new int[SHARDS];

  /**
   * @param multiplier odd; secret, so that nobody can aim at one place
   */
  public ChildTable(ByteBudget budget, long multiplier) {
    this.budget = budget;
    this.multiplier = multiplier | 1;
    budget.force(SHARDS * (8L * MIN_CAPACITY + 16));
  }

  /** The hash of a key, which all other methods take. */
  public long key(int run, int offset, long localHash) {
    long mixed = (localHash ^ (((long) run << 7) | offset) * 0x9E3779B97F4A7C15L) * multiplier;
    return (mixed ^ (mixed >>> 29)) * 0xBF58476D1CE4E5B9L;
  }

  /** The shard of a key as it is now; probing must stay within one array. */
  public long[] shard(long key) {
    return (long[]) TABLE.getAcquire(shards, (int) (key >>> (64 - SHARD_BITS)));
  }

  /** Where in its shard the probing for a key begins. */
  public static int first(long key, long[] shard) {
    return (int) (key >>> 32) & (shard.length - 1);
  }

  /** The place to be probed after {@code at}. */
  public static int next(int at, long[] shard) {
    return (at + 1) & (shard.length - 1);
  }

  /** The candidate at a place: a run, 0 for the end of the probing, or −1 for somebody else's. */
  public static int candidate(long key, long[] shard, int at) {
    long entry = (long) LONG.getOpaque(shard, at);
    if (entry == 0) {
      return 0;
    }
    return entry >>> 32 == key >>> 32 && (int) entry != 0 ? (int) entry : -1;
  }

  /** Adds a child that is not there yet; takes bytes even beyond the budget. */
  public void add(long key, int run) {
    int shard = (int) (key >>> (64 - SHARD_BITS));
    if ((used[shard] + 1) * 5L > shards[shard].length * 3L) {
      rebuild(shard);
    }
    insert(shards[shard], entry(key, run), shard);
    live[shard]++;
  }

  public void remove(long key, int run) {
    int shard = (int) (key >>> (64 - SHARD_BITS));
    long[] table = shards[shard];
    long wanted = entry(key, run);
    int at = first(key, table);
    while (table[at] != wanted) {
      if (table[at] == 0) {
        throw new IllegalStateException("run=" + run + " is no child");
      }
      at = next(at, table);
    }
    live[shard]--;
    if (table[next(at, table)] == 0) {
      used[shard]--;
      LONG.setOpaque(table, at, 0L);
    } else {
      LONG.setOpaque(table, at, TOMBSTONE);
    }
  }

  /** What its arrays take, counted from them. */
  public long bytes() {
    long bytes = 0;
    for (long[] shard : shards) {
      bytes += 8L * shard.length + 16;
    }
    return bytes;
  }

  private static int capacity(int children) {
    int capacity = MIN_CAPACITY;
    while (capacity < children * 9L / 4) {
      capacity *= 2;
    }
    return capacity;
  }

  private void insert(long[] table, long entry, int shard) {
    int at = (int) (entry >>> 32) & (table.length - 1);
    while (table[at] != 0 && table[at] != TOMBSTONE) {
      at = next(at, table);
    }
    if (table[at] == 0) {
      used[shard]++;
    }
    LONG.setOpaque(table, at, entry);
  }

  private void rebuild(int shard) {
    long[] old = shards[shard];
    int capacity = capacity(live[shard] + 1);
    long[] table = new long[capacity];
    budget.force(8L * (capacity - old.length));
    used[shard] = 0;
    for (long entry : old) {
      if (entry != 0 && entry != TOMBSTONE) {
        insert(table, entry, shard);
      }
    }
    TABLE.setRelease(shards, shard, table);
  }

  private static long entry(long key, int run) {
    return ((key >>> 32) << 32) | run;
  }
}
