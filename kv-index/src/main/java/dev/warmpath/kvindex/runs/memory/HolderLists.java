package dev.warmpath.kvindex.runs.memory;

import java.util.Arrays;

/**
 * For each run the shelves that hold some of its blocks: five ints an entry.
 *
 * <p>A list is known by its reference and the room that it was made for. Freed lists are kept by
 * room and given out again.
 *
 * <p>Single writer, many readers.
 */
public final class HolderLists {

  /*
   *   int  0  SHELF   who holds
   *        1  SOURCE  the run with the engine hashes under which it is held
   *        2  LOW     the blocks held, one bit each
   *        3  HIGH
   *        4  PLACE   where the shelf lists this run
   *
   * Rooms are 1, 2, 3, 4, 6, 8, 12, 16, 24, … entries. Lists of up to 768 entries share segments; a
   * longer one has a segment of its own.
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

  private final ByteBudget budget;
  private final int[] free = new int[ROOMS];
  private volatile int[][] segments = {new int[1]};
  private int current;
  private int bump = SEGMENT_INTS;

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

  /** A list; its content is not defined. Takes bytes even beyond the budget. */
  public int allocate(int room) {
    int list = free[room];
    if (list != 0) {
      free[room] = segment(list)[at(list)];
      return list;
    }
    int ints = INTS * entries(room);
    return ints > SEGMENT_INTS / 2 ? own(ints) : shared(ints);
  }

  public void release(int list, int room) {
    segment(list)[at(list)] = free[room];
    free[room] = list;
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

  private int own(int ints) {
    budget.force(4L * ints + 16);
    append(new int[ints]);
    return (segments.length - 1) << SHIFT;
  }

  private int shared(int ints) {
    if (bump + ints > SEGMENT_INTS) {
      budget.force(4L * SEGMENT_INTS + 16);
      append(new int[SEGMENT_INTS]);
      current = segments.length - 1;
      bump = 0;
    }
    int list = (current << SHIFT) | bump;
    bump += ints;
    return list;
  }

  private void append(int[] segment) {
    int[][] longer = Arrays.copyOf(segments, segments.length + 1);
    longer[segments.length] = segment;
    segments = longer;
  }
}
