package dev.warmpath.lab.index;

import java.util.Arrays;

/**
 * Which worker holds which block, as one set of workers for each block number.
 *
 * <p>The bookkeeping by which corpora know their exact answers; it knows nothing of hashes, chains
 * or indexes.
 *
 * <p>Single writer.
 */
final class HeldBlocks {

  private static final long[] NOBODY = {};

  private long[][] holders = new long[1024][];
  private int workers;
  private long memberships;

  /** The worker holds the block now; returns whether it did not before. */
  boolean add(int worker, int block) {
    workers = Math.max(workers, worker + 1);
    if (block >= holders.length) {
      holders = Arrays.copyOf(holders, Math.max(block + 1, 2 * holders.length));
    }
    long[] set = holders(block);
    if (set.length <= worker / Long.SIZE) {
      set = Arrays.copyOf(set, worker / Long.SIZE + 1);
      holders[block] = set;
    }
    long before = set[worker / Long.SIZE];
    set[worker / Long.SIZE] |= 1L << worker;
    boolean added = set[worker / Long.SIZE] != before;
    memberships += added ? 1 : 0;
    return added;
  }

  /** The worker does not hold the block any more; returns whether it did. */
  boolean remove(int worker, int block) {
    if (!holds(worker, block)) {
      return false;
    }
    long[] set = holders[block];
    set[worker / Long.SIZE] &= ~(1L << worker);
    if (Arrays.stream(set).allMatch(word -> word == 0)) {
      holders[block] = NOBODY;
    }
    memberships--;
    return true;
  }

  boolean holds(int worker, int block) {
    long[] set = holders(block);
    return worker / Long.SIZE < set.length && (set[worker / Long.SIZE] >>> worker & 1) != 0;
  }

  /** (worker, block) pairs. */
  long memberships() {
    return memberships;
  }

  /** For each worker, how many blocks of {@code chain} it holds from the first one on. */
  int[] depths(int[] chain) {
    int[] depths = new int[workers];
    long[] alive = new long[(workers + Long.SIZE - 1) / Long.SIZE];
    Arrays.fill(alive, -1);
    boolean more = true;
    for (int depth = 0; more; depth++) {
      more = narrow(alive, depth == chain.length ? NOBODY : holders(chain[depth]), depth, depths);
    }
    return depths;
  }

  /** Takes out of {@code alive} who is not in {@code set}; returns whether somebody is left. */
  private static boolean narrow(long[] alive, long[] set, int depth, int[] depths) {
    long left = 0;
    for (int word = 0; word < alive.length; word++) {
      long kept = word < set.length ? alive[word] & set[word] : 0;
      for (long out = alive[word] & ~kept; out != 0; out &= out - 1) {
        int worker = word * Long.SIZE + Long.numberOfTrailingZeros(out);
        if (worker < depths.length) {
          depths[worker] = depth;
        }
      }
      alive[word] = kept;
      left |= kept;
    }
    return left != 0;
  }

  private long[] holders(int block) {
    long[] set = block < holders.length ? holders[block] : null;
    return set == null ? NOBODY : set;
  }
}
