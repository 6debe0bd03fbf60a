package dev.warmpath.kvindex.runs.memory;

import java.util.Arrays;

/**
 * The two hashes of every block, in slabs of {@value #BLOCKS} blocks: a column of local hashes, a
 * column of engine hashes, and for each slab the run that it belongs to and which of its engine
 * hashes are listed in the {@link HashTable}.
 *
 * <p>Slabs are numbered from 1; 0 stands for none. A freed slab is the next one given out. Readers
 * may look at local hashes at any time; only the version of the run tells whether they mean
 * anything.
 *
 * <p>Single writer, many readers of the local hashes.
 */
public final class SlabColumns {

  /** Blocks a slab. */
  public static final int BLOCKS = 8;

  /** Ids of slabs are below this, so that they fit into an entry of the {@link HashTable}. */
  static final int MAX_SLABS = 1 << 24;

  /** An owner in the lower bits, the listed blocks in the upper ones. */
  private static final int OWNER = MAX_SLABS - 1;

  private static final int LISTED_SHIFT = 24;
  private static final int SHIFT = 10;
  private static final int MASK = (1 << SHIFT) - 1;
  private static final long SEGMENT_BYTES =
      (2L * BLOCKS * Long.BYTES + Integer.BYTES) * (MASK + 1) + 3 * 16;

  private final ByteBudget budget;
  private volatile long[][] locals = {};
  private long[][] hashes = {};
  private int[][] owners = {};
  private int free;
  private int freeCount;

  public SlabColumns(ByteBudget budget) {
    this.budget = budget;
  }

  /** A slab for {@code run}, or 0 when there is no room. */
  public int allocate(int run) {
    if (free == 0 && !grow()) {
      return 0;
    }
    int slab = free;
    free = owners[slab >>> SHIFT][slab & MASK];
    owners[slab >>> SHIFT][slab & MASK] = run;
    freeCount--;
    return slab;
  }

  public void release(int slab) {
    owners[slab >>> SHIFT][slab & MASK] = free;
    free = slab;
    freeCount++;
  }

  /** Whether {@code slabs} more can be had without exceeding the budget; grows if need be. */
  public boolean hasRoom(int slabs) {
    while (freeCount < slabs) {
      if (!grow()) {
        return false;
      }
    }
    return true;
  }

  /** The run that a slab in use belongs to. */
  public int owner(int slab) {
    return owners[slab >>> SHIFT][slab & MASK] & OWNER;
  }

  /** The blocks of the slab, one bit each, whose engine hashes are listed. */
  public int listed(int slab) {
    return owners[slab >>> SHIFT][slab & MASK] >>> LISTED_SHIFT;
  }

  /** Notes that the engine hashes of some blocks, one bit each, are listed. */
  void list(int slab, int blocks) {
    if (blocks != 0) {
      owners[slab >>> SHIFT][slab & MASK] |= blocks << LISTED_SHIFT;
    }
  }

  /** Notes that the engine hashes of some blocks, one bit each, are listed no more. */
  void unlist(int slab, int blocks) {
    owners[slab >>> SHIFT][slab & MASK] &= ~(blocks << LISTED_SHIFT);
  }

  /** The segment of local hashes in which {@code slab} lies from {@link #at} on. */
  public long[] locals(int slab) {
    return locals[slab >>> SHIFT];
  }

  /** The segment of engine hashes in which {@code slab} lies from {@link #at} on. */
  public long[] hashes(int slab) {
    return hashes[slab >>> SHIFT];
  }

  /** Where in its segments the first block of {@code slab} lies. */
  public static int at(int slab) {
    return (slab & MASK) * BLOCKS;
  }

  private boolean grow() {
    int segment = locals.length;
    if ((segment + 1L) << SHIFT > MAX_SLABS || !budget.take(SEGMENT_BYTES)) {
      return false;
    }
    hashes = appended(hashes, new long[BLOCKS << SHIFT]);
    locals = appended(locals, new long[BLOCKS << SHIFT]);
    owners = Arrays.copyOf(owners, segment + 1);
    owners[segment] = new int[MASK + 1];
    int first = segment << SHIFT;
    for (int slab = first + MASK; slab >= Math.max(1, first); slab--) {
      release(slab);
    }
    return true;
  }

  private static long[][] appended(long[][] segments, long[] segment) {
    long[][] longer = Arrays.copyOf(segments, segments.length + 1);
    longer[segments.length] = segment;
    return longer;
  }
}
