package dev.warmpath.kvindex.runs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * One header of 16 ints for each run, so that a visit costs one cache line.
 *
 * <p>Runs are numbered from 1; 0 stands for none. The version is odd while the writer changes the
 * run; it only grows, also when the run is freed and used again.
 *
 * <p>Single writer, many readers.
 */
public final class RunHeaders {

  /*
   *   int  0  VERSION
   *        1  PARENT      the run before, or for an alias the run whose names it shares
   *        2  SHAPE       length, offset in the parent, highest offset of a child, kind
   *        3  CHILDREN    how many runs hang here
   *        4  HOLDERS     where the list of holders is
   *        5  HOLDER_COUNT
   *        6  LINK        for an alias the next one of the same names, else the newest child
   *        7  TOUCHED     set by whoever visits the run, taken back by whoever looks for cold ones
   *        8  SLABS       eight slabs of eight blocks
   */

  /** Blocks a run: one bit each in a long. */
  public static final int MAX_BLOCKS = 64;

  public static final int VERSION = 0;
  public static final int PARENT = 1;
  public static final int SHAPE = 2;
  public static final int CHILDREN = 3;
  public static final int HOLDERS = 4;
  public static final int HOLDER_COUNT = 5;
  public static final int LINK = 6;
  public static final int TOUCHED = 7;
  public static final int SLABS = 8;

  /** In the shape: some shelf holds blocks of the run under hashes of several runs. */
  public static final int MIXED = 1 << 26;

  /** In the shape: there are aliases for the names of this run. */
  public static final int ALIASED = 1 << 27;

  /** Kinds, in the shape. */
  public static final int FREE = 0;

  public static final int NAMES = 1;
  public static final int ROOT = 2;
  public static final int ALIAS = 3;

  private static final int INTS = 16;
  private static final int SHIFT = 8;
  private static final int MASK = (1 << SHIFT) - 1;
  private static final long SEGMENT_BYTES = (long) INTS * Integer.BYTES * (MASK + 1) + 16;
  private static final VarHandle INT = MethodHandles.arrayElementVarHandle(int[].class);

  private final ByteBudget budget;
  private volatile int[][] segments = {};
  private int free;
  private int freeCount;

  public RunHeaders(ByteBudget budget) {
    this.budget = budget;
  }

  /** A header, all zero but its version, which stays odd until {@link #end}; 0 for no room. */
  public int allocate() {
    if (free == 0 && !grow(0)) {
      return 0;
    }
    int run = free;
    int[] h = segment(run);
    int at = at(run);
    free = h[at + PARENT];
    freeCount--;
    begin(h, at);
    Arrays.fill(h, at + PARENT, at + INTS, 0);
    return run;
  }

  public void release(int run) {
    int[] h = segment(run);
    int at = at(run);
    begin(h, at);
    Arrays.fill(h, at + PARENT, at + INTS, 0);
    h[at + PARENT] = free;
    end(h, at);
    free = run;
    freeCount++;
  }

  /** What its arrays take, counted from them. */
  public long bytes() {
    return segments.length * SEGMENT_BYTES;
  }

  /** Headers that can be had without taking more bytes. */
  public int free() {
    return freeCount;
  }

  /** Whether {@code runs} more can be had; grows if need be, and if {@code spare} bytes remain. */
  public boolean hasRoom(int runs, long spare) {
    while (freeCount < runs) {
      if (!grow(spare)) {
        return false;
      }
    }
    return true;
  }

  /** All ids of runs are below this. */
  public int bound() {
    return segments.length << SHIFT;
  }

  /** The segment in which the header of {@code run} lies from {@link #at} on. */
  public int[] segment(int run) {
    return segments[run >>> SHIFT];
  }

  /** Where in its segment the header of {@code run} begins. */
  public static int at(int run) {
    return (run & MASK) * INTS;
  }

  /** The writer is about to change the run. */
  public static void begin(int[] h, int at) {
    INT.setOpaque(h, at, h[at] + 1);
    VarHandle.storeStoreFence();
  }

  /** The writer has changed the run. */
  public static void end(int[] h, int at) {
    INT.setRelease(h, at, h[at] + 1);
  }

  /** The version, to be read before anything else of the run. */
  public static int version(int[] h, int at) {
    return (int) INT.getAcquire(h, at);
  }

  /** Whether the version is still this one; what was read before the call was then consistent. */
  public static boolean unchanged(int[] h, int at, int version) {
    return (int) INT.getOpaque(h, at) == version;
  }

  public static int length(int shape) {
    return shape & 0xFF;
  }

  public static int parentOffset(int shape) {
    return (shape >>> 8) & 0xFF;
  }

  /** No child hangs beyond this offset. */
  public static int childBound(int shape) {
    return (shape >>> 16) & 0xFF;
  }

  public static int kind(int shape) {
    return (shape >>> 24) & 3;
  }

  public static int shape(int kind, int parentOffset) {
    return (kind << 24) | (parentOffset << 8);
  }

  public static int withLength(int shape, int length) {
    return (shape & ~0xFF) | length;
  }

  public static int withChildBound(int shape, int offset) {
    return (shape & ~0xFF0000) | (offset << 16);
  }

  private boolean grow(long spare) {
    int segment = segments.length;
    if ((segment + 1L) << SHIFT > SlabColumns.MAX_OWNERS || !budget.take(SEGMENT_BYTES, spare)) {
      return false;
    }
    int[][] longer = Arrays.copyOf(segments, segment + 1);
    longer[segment] = new int[INTS << SHIFT];
    segments = longer;
    int first = segment << SHIFT;
    for (int run = first + MASK; run >= Math.max(1, first); run--) {
      longer[segment][at(run) + PARENT] = free;
      free = run;
      freeCount++;
    }
    return true;
  }
}
