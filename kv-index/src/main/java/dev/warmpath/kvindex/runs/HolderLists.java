package dev.warmpath.kvindex.runs;

import java.util.Arrays;

/**
 * For each run the shelves that hold some of its blocks: five ints an entry.
 *
 * <p>A list is known by its reference and the room that it was made for. Freed lists are kept by
 * room and given out again.
 *
 * <p>Single writer, many readers.
 */
final class HolderLists {

  /*
   *   int  0  SHELF   who holds
   *        1  SOURCE  the run with the engine hashes under which it is held
   *        2  LOW     the blocks held, one bit each
   *        3  HIGH
   *        4  PLACE   where the shelf lists this run
   *
   * Rooms are 1, 2, 3, 4, 6, 8, 12, 16, 24, … entries. Lists of up to 768 entries share segments; a
   * longer one has a segment of its own, which is given back with it. Shared ones are given back when
   * they are sparse, after somebody moved the few lists that are left in them.
   */

  public static final int INTS = 5;
  public static final int SHELF = 0;
  public static final int SOURCE = 1;
  public static final int LOW = 2;
  public static final int HIGH = 3;
  public static final int PLACE = 4;

  private static final int SHIFT = 13;
  private static final int SEGMENT_INTS = 1 << SHIFT;
  private static final int ROOMS = 40;
  private static final int SPARSE_INTS = SEGMENT_INTS / 4;
  private static final long SEGMENT_BYTES = 4L * SEGMENT_INTS + 16;
  private static final int CLOSED = 1 << 31;

  private final ByteBudget budget;
  private final int[] free = new int[ROOMS];
  private volatile int[][] segments = {new int[1]};
  private int current;
  private int bump = SEGMENT_INTS;

  /** For each segment the ints of its lists that are in use; negative while it is closed. */
  private int[] usedOf = new int[16];

  private int shared;
  private int sparse;

  /** The last segment that was given back, or 0; its only int names the one before. */
  private int lastGap;

  public HolderLists(ByteBudget budget) {
    this.budget = budget;
  }

  /** The smallest room for {@code entries}. */
  public static int roomFor(int entries) {
    int room = 0;
    while (entries(room) < entries) {
      room++;
    }
    return room;
  }

  /** How many entries fit into a room. */
  public static int entries(int room) {
    return room < 2 ? room + 1 : (room & 1) == 0 ? 3 << ((room - 2) / 2) : 4 << ((room - 3) / 2);
  }

  /** What its arrays take, counted from them. */
  public long bytes() {
    long bytes = 0;
    for (int[] segment : segments) {
      bytes += segment.length == 1 ? 0 : 4L * segment.length + 16;
    }
    return bytes;
  }

  /** Whether a list can be had although nobody made room for it. */
  public boolean isAtHand(int room) {
    int ints = ints(room);
    return free[room] != 0
        || (isOwn(ints) ? 4L * ints + 16 <= budget.remainingBytes() : ints <= SEGMENT_INTS - bump);
  }

  /** A list; its content is not defined. */
  public int allocate(int room) {
    int list = free[room];
    int ints = ints(room);
    if (list != 0) {
      free[room] = segment(list)[at(list)];
    } else {
      list = isOwn(ints) ? append(ints) << SHIFT : shared(ints);
    }
    use(list >>> SHIFT, ints);
    return list;
  }

  public void release(int list, int room) {
    int ints = ints(room);
    int segment = list >>> SHIFT;
    if (isOwn(ints)) {
      drop(segment);
      return;
    }
    use(segment, -ints);
    if (usedOf[segment] >= 0) {
      segment(list)[at(list)] = free[room];
      free[room] = list;
    }
  }

  /**
   * Closes sparse segments, whose lists are to be moved into others; false if there are too few to
   * be worth it, or no room to move them.
   */
  public boolean close() {
    if (sparse * 8 <= shared) {
      return false;
    }
    long room = (budget.remainingBytes() - SEGMENT_BYTES) / (2 * Integer.BYTES);
    boolean closed = false;
    for (int segment = 1; segment < segments.length; segment++) {
      if (isSparse(segment) && segment != current && usedOf[segment] <= Math.max(0, room)) {
        room -= usedOf[segment];
        usedOf[segment] |= CLOSED;
        closed = true;
      }
    }
    for (int list = 0; closed && list < ROOMS; list++) {
      keepOpen(list);
    }
    return closed;
  }

  /** Whether a list lies in a closed segment. */
  public boolean isClosed(int list) {
    return usedOf[list >>> SHIFT] < 0;
  }

  /** Gives back all closed segments. */
  public void dropClosed() {
    for (int segment = 1; segment < segments.length; segment++) {
      if (usedOf[segment] < 0) {
        usedOf[segment] = 0;
        sparse--;
        shared--;
        drop(segment);
      }
    }
  }

  public int[] segment(int list) {
    return segments[list >>> SHIFT];
  }

  public static int at(int list) {
    return list & (SEGMENT_INTS - 1);
  }

  /** The bits of the entry at {@code at}. */
  public static long mask(int[] entries, int at) {
    return (entries[at + LOW] & 0xFFFFFFFFL) | ((long) entries[at + HIGH] << 32);
  }

  public static void mask(int[] entries, int at, long mask) {
    entries[at + LOW] = (int) mask;
    entries[at + HIGH] = (int) (mask >>> 32);
  }

  private static int ints(int room) {
    return INTS * entries(room);
  }

  private static boolean isOwn(int ints) {
    return ints > SEGMENT_INTS / 2;
  }

  private int shared(int ints) {
    if (bump + ints > SEGMENT_INTS) {
      current = append(SEGMENT_INTS);
      bump = 0;
      shared++;
      sparse++;
    }
    int list = (current << SHIFT) | bump;
    bump += ints;
    return list;
  }

  private boolean isSparse(int segment) {
    return segments[segment].length == SEGMENT_INTS && usedOf[segment] <= SPARSE_INTS;
  }

  private void use(int segment, int ints) {
    if (segments[segment].length == SEGMENT_INTS) {
      int before = usedOf[segment] & ~CLOSED;
      usedOf[segment] += ints;
      int after = usedOf[segment] & ~CLOSED;
      sparse += (after <= SPARSE_INTS ? 1 : 0) - (before <= SPARSE_INTS ? 1 : 0);
    }
  }

  /** Takes the lists in closed segments out of the free ones. */
  private void keepOpen(int room) {
    int list = free[room];
    free[room] = 0;
    while (list != 0) {
      int next = segment(list)[at(list)];
      if (!isClosed(list)) {
        segment(list)[at(list)] = free[room];
        free[room] = list;
      }
      list = next;
    }
  }

  private int append(int ints) {
    budget.force(4L * ints + 16);
    int segment = lastGap;
    if (segment != 0) {
      lastGap = segments[segment][0];
      segments[segment] = new int[ints];
    } else {
      segment = segments.length;
      int[][] longer = Arrays.copyOf(segments, segment + 1);
      longer[segment] = new int[ints];
      segments = longer;
    }
    if (segment >= usedOf.length) {
      usedOf = Arrays.copyOf(usedOf, 2 * segment);
    }
    return segment;
  }

  private void drop(int segment) {
    budget.give(4L * segments[segment].length + 16);
    segments[segment] = new int[] {lastGap};
    lastGap = segment;
  }
}
