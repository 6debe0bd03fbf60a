package dev.warmpath.kvindex.runs;

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

  /** Ids of runs are below this, so that they fit beside the listed blocks. */
  static final int MAX_OWNERS = 1 << 24;

  /** An owner in the lower bits, the listed blocks in the upper ones. */
  private static final int OWNER = MAX_OWNERS - 1;

  private static final int LISTED_SHIFT = 24;
  private static final int SHIFT = 10;

  /** Slabs that are taken and given back together. */
  public static final int SEGMENT_SLABS = 1 << SHIFT;

  private static final int MASK = SEGMENT_SLABS - 1;
  private static final long[] NONE = {};
  private static final long SEGMENT_BYTES =
      (2L * BLOCKS * Long.BYTES + Integer.BYTES) * (MASK + 1) + 3 * 16;

  private final ByteBudget budget;
  private volatile long[][] locals = {};
  private long[][] hashes = {};
  private int[][] owners = {};
  private int free;
  private int freeCount;
  private long segmentsTaken;

  /** The last segment that was given back, or −1; its owners name the one before. */
  private int lastGap = -1;

  public SlabColumns(ByteBudget budget) {
    this.budget = budget;
  }

  /** A slab for {@code run}, or 0 when there is no room. */
  public int allocate(int run) {
    if (free == 0 && !grow(0)) {
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

  /** Slabs that can be had without taking more bytes. */
  public int free() {
    return freeCount;
  }

  /** What its arrays take, counted from them. */
  public long bytes() {
    long bytes = 0;
    for (long[] segment : hashes) {
      bytes += segment.length == 0 ? 0 : SEGMENT_BYTES;
    }
    return bytes;
  }

  /** Slabs for which bytes are taken. */
  public long capacity() {
    return segmentsTaken << SHIFT;
  }

  /** Whether {@code slabs} more can be had; grows if need be, and if {@code spare} bytes remain. */
  public boolean hasRoom(int slabs, long spare) {
    while (freeCount < slabs) {
      if (!grow(spare)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Closes the segment with the most free slabs: they belong to no run now and are not given out
   * any more. Returns its first slab; {@link #drop} gives it back once its others were moved.
   */
  public int close() {
    int[] freeOf = new int[owners.length];
    for (int slab = free; slab != 0; slab = owner(slab)) {
      freeOf[slab >>> SHIFT]++;
    }
    int closed = 1;
    for (int segment = 2; segment < freeOf.length; segment++) {
      closed = freeOf[segment] > freeOf[closed] ? segment : closed;
    }
    int slab = free;
    free = 0;
    freeCount = 0;
    while (slab != 0) {
      int next = owner(slab);
      if (slab >>> SHIFT == closed) {
        owners[closed][slab & MASK] = 0;
      } else {
        release(slab);
      }
      slab = next;
    }
    return closed << SHIFT;
  }

  /** Gives a closed segment back. */
  public void drop(int firstSlab) {
    int segment = firstSlab >>> SHIFT;
    locals[segment] = NONE;
    hashes[segment] = NONE;
    owners[segment] = new int[] {lastGap};
    lastGap = segment;
    segmentsTaken--;
    budget.give(SEGMENT_BYTES);
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

  /** Whether the second slab lies behind the first in all columns. */
  public static boolean isNext(int slab, int next) {
    return next == slab + 1 && (next & MASK) != 0;
  }

  private boolean grow(long spare) {
    int segment = lastGap >= 0 ? lastGap : locals.length;
    if ((segment + 1L) << SHIFT > MAX_SLABS || !budget.take(SEGMENT_BYTES, spare)) {
      return false;
    }
    segmentsTaken++;
    if (segment == locals.length) {
      hashes = Arrays.copyOf(hashes, segment + 1);
      locals = appended(locals);
      owners = Arrays.copyOf(owners, segment + 1);
    } else {
      lastGap = owners[segment][0];
    }
    hashes[segment] = new long[BLOCKS << SHIFT];
    locals[segment] = new long[BLOCKS << SHIFT];
    owners[segment] = new int[MASK + 1];
    int first = segment << SHIFT;
    for (int slab = first + MASK; slab >= Math.max(1, first); slab--) {
      release(slab);
    }
    return true;
  }

  private static long[][] appended(long[][] segments) {
    long[][] longer = Arrays.copyOf(segments, segments.length + 1);
    longer[segments.length] = NONE;
    return longer;
  }
}
