package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.HolderLists.INTS;
import static dev.warmpath.kvindex.runs.HolderLists.PLACE;
import static dev.warmpath.kvindex.runs.HolderLists.SHELF;
import static dev.warmpath.kvindex.runs.HolderLists.SOURCE;
import static dev.warmpath.kvindex.runs.RunHeaders.CHILDREN;
import static dev.warmpath.kvindex.runs.RunHeaders.HOLDERS;
import static dev.warmpath.kvindex.runs.RunHeaders.HOLDER_COUNT;
import static dev.warmpath.kvindex.runs.RunHeaders.PARENT;
import static dev.warmpath.kvindex.runs.RunHeaders.SHAPE;

import dev.warmpath.kvindex.runs.Shelves.Shelf;

/**
 * Who holds which blocks of a run, one bit each; a run lasts while a block of it is held or a child
 * hangs on it.
 *
 * <p>Single writer.
 */
public final class Holdings {

  /** In the header's count: the number of entries; above it the room of the list. */
  public static final int COUNT = 0xFFFFFF;

  private static final int ROOM_SHIFT = 24;

  private final Runs runs;
  private final Shelves shelves;

  public Holdings(Runs runs, Shelves shelves) {
    this.runs = runs;
    this.shelves = shelves;
  }

  /** The blocks of {@code run} that a shelf holds under the engine hashes of {@code source}. */
  public long held(int run, int source, int shelf) {
    int entry = find(run, source, shelf);
    return entry < 0 ? 0 : mask(run, entry);
  }

  /** Whether the engine in {@code slot} holds the block at {@code place} on any shelf. */
  public boolean isHeld(long place, int slot) {
    int source = Runs.run(place);
    int run = runs.names(source);
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    int count = h[at + HOLDER_COUNT] & COUNT;
    int list = h[at + HOLDERS];
    int[] entries = runs.lists.segment(list);
    int e = HolderLists.at(list);
    for (int i = 0; i < count; i++, e += INTS) {
      if (entries[e + SOURCE] == source
          && ((HolderLists.mask(entries, e) >>> Runs.offset(place)) & 1) != 0
          && shelves.get(entries[e + SHELF]).slot == slot) {
        return true;
      }
    }
    return false;
  }

  /** The shelf holds these blocks too; they are listed already. */
  public void hold(Shelf shelf, int run, int source, long mask) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    RunHeaders.begin(h, at);
    int entry = find(run, source, shelf.id);
    if ((h[at + HOLDER_COUNT] & COUNT) > 0) {
      // Not the first time that somebody tells of it.
      h[at + RunHeaders.TOUCHED] = 1;
    }
    if (entry < 0) {
      entry = append(shelf, run, source);
    }
    int list = h[at + HOLDERS];
    int e = HolderLists.at(list) + entry * INTS;
    int[] entries = runs.lists.segment(list);
    HolderLists.mask(entries, e, HolderLists.mask(entries, e) | mask);
    RunHeaders.end(h, at);
  }

  /** Makes a list for so many holders of a run that has none yet. */
  public void provide(int run, int holders) {
    if (holders > 0) {
      int[] h = runs.headers.segment(run);
      int at = RunHeaders.at(run);
      int room = HolderLists.roomFor(holders);
      h[at + HOLDERS] = runs.lists.allocate(room);
      h[at + HOLDER_COUNT] = room << ROOM_SHIFT;
    }
  }

  /** Adds a holder who has no entry for this source yet; there must be a place in the list. */
  public void put(Shelf shelf, int run, int source, long mask) {
    int entry = enter(shelf, run, source);
    int list = runs.headers.segment(run)[RunHeaders.at(run) + HOLDERS];
    HolderLists.mask(runs.lists.segment(list), HolderLists.at(list) + entry * INTS, mask);
  }

  /**
   * The shelf holds these blocks no more; what nobody holds is forgotten.
   *
   * @param entry what {@link #find} gave
   */
  public void release(Shelf shelf, int run, int entry, long mask) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    int source = sourceOf(run, entry);
    long left = mask(run, entry) & ~mask;
    boolean last = left == 0 && (h[at + HOLDER_COUNT] & COUNT) == 1 && h[at + CHILDREN] == 0;
    long firstLocal = last ? runs.localHash(run, 0) : 0;
    RunHeaders.begin(h, at);
    int list = h[at + HOLDERS];
    HolderLists.mask(runs.lists.segment(list), HolderLists.at(list) + entry * INTS, left);
    if (left == 0) {
      remove(shelf, run, entry);
    }
    long union = union(run, 0);
    forget(
        run,
        source,
        mask & ~((h[at + SHAPE] & RunHeaders.ALIASED) == 0 ? union : union(run, source)));
    int length = Math.max(top(union), RunHeaders.childBound(h[at + SHAPE]));
    if (length < RunHeaders.length(h[at + SHAPE])) {
      runs.shorten(run, length);
    }
    RunHeaders.end(h, at);
    if (length == 0) {
      drop(run, firstLocal);
    }
  }

  public int count(int run) {
    return runs.headers.segment(run)[RunHeaders.at(run) + HOLDER_COUNT] & COUNT;
  }

  public int shelfOf(int run, int entry) {
    return entry(run, entry, SHELF);
  }

  public int sourceOf(int run, int entry) {
    return entry(run, entry, SOURCE);
  }

  public int placeOf(int run, int entry) {
    return entry(run, entry, PLACE);
  }

  public long mask(int run, int entry) {
    int list = runs.headers.segment(run)[RunHeaders.at(run) + HOLDERS];
    return HolderLists.mask(runs.lists.segment(list), HolderLists.at(list) + entry * INTS);
  }

  /** The blocks that anybody holds, under the engine hashes of one run or (0) of any. */
  public long union(int run, int source) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    int count = h[at + HOLDER_COUNT] & COUNT;
    int list = h[at + HOLDERS];
    int[] entries = runs.lists.segment(list);
    int e = HolderLists.at(list);
    long union = 0;
    for (int i = 0; i < count; i++, e += INTS) {
      if (source == 0 || entries[e + SOURCE] == source) {
        union |= HolderLists.mask(entries, e);
      }
    }
    return union;
  }

  /** The entry of a shelf's last run, for taking all away. */
  public int lastOf(Shelf shelf) {
    int place = shelf.runs.size() - 1;
    return entryAt(shelf.runs.get(place), shelf.id, place);
  }

  /** Gives back what sparse lists take; false if that is not worth it. */
  public boolean giveBackLists() {
    if (!runs.lists.close()) {
      return false;
    }
    for (int run = 1; run < runs.headers.bound(); run++) {
      int[] h = runs.headers.segment(run);
      int at = RunHeaders.at(run);
      int count = h[at + HOLDER_COUNT] & COUNT;
      if (count > 0 && runs.lists.isClosed(h[at + HOLDERS])) {
        RunHeaders.begin(h, at);
        resize(h, at, count, h[at + HOLDER_COUNT] >>> ROOM_SHIFT);
        RunHeaders.end(h, at);
      }
    }
    runs.lists.dropClosed();
    return true;
  }

  private static int top(long mask) {
    return Long.SIZE - Long.numberOfLeadingZeros(mask);
  }

  private int entry(int run, int entry, int field) {
    int list = runs.headers.segment(run)[RunHeaders.at(run) + HOLDERS];
    return runs.lists.segment(list)[HolderLists.at(list) + entry * INTS + field];
  }

  /** The entry by which a shelf holds blocks under the engine hashes of a source, or −1. */
  public int find(int run, int source, int shelf) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    int count = h[at + HOLDER_COUNT] & COUNT;
    int list = h[at + HOLDERS];
    int[] entries = runs.lists.segment(list);
    int e = HolderLists.at(list);
    for (int i = 0; i < count; i++, e += INTS) {
      if (entries[e + SHELF] == shelf && entries[e + SOURCE] == source) {
        return i;
      }
    }
    return -1;
  }

  private int entryAt(int run, int shelf, int place) {
    int entry = 0;
    while (shelfOf(run, entry) != shelf || placeOf(run, entry) != place) {
      entry++;
    }
    return entry;
  }

  private int append(Shelf shelf, int run, int source) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    int count = h[at + HOLDER_COUNT] & COUNT;
    int room = h[at + HOLDER_COUNT] >>> ROOM_SHIFT;
    if (count == 0) {
      room = 0;
      h[at + HOLDERS] = runs.lists.allocate(0);
    } else if (count == HolderLists.entries(room)) {
      room = resize(h, at, count, room + 1);
    }
    h[at + HOLDER_COUNT] = (room << ROOM_SHIFT) | count;
    return enter(shelf, run, source);
  }

  /** Adds an entry without blocks behind the others. */
  private int enter(Shelf shelf, int run, int source) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    int count = h[at + HOLDER_COUNT]++ & COUNT;
    int list = h[at + HOLDERS];
    int[] entries = runs.lists.segment(list);
    int e = HolderLists.at(list) + count * INTS;
    entries[e + SHELF] = shelf.id;
    entries[e + SOURCE] = source;
    entries[e + PLACE] = shelf.runs.size();
    HolderLists.mask(entries, e, 0);
    shelf.runs.add(run);
    for (int i = 0; i < count && (h[at + SHAPE] & RunHeaders.ALIASED) != 0; i++) {
      if (shelfOf(run, i) == shelf.id) {
        h[at + SHAPE] |= RunHeaders.MIXED;
      }
    }
    return count;
  }

  private void remove(Shelf shelf, int run, int entry) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    leave(shelf, placeOf(run, entry));
    int count = (h[at + HOLDER_COUNT] & COUNT) - 1;
    int room = h[at + HOLDER_COUNT] >>> ROOM_SHIFT;
    int list = h[at + HOLDERS];
    int[] entries = runs.lists.segment(list);
    int base = HolderLists.at(list);
    System.arraycopy(entries, base + count * INTS, entries, base + entry * INTS, INTS);
    if (count == 0) {
      runs.lists.release(list, room);
      h[at + HOLDERS] = 0;
      room = 0;
    } else if (room > 0 && 2 * count <= HolderLists.entries(room)) {
      int less = HolderLists.roomFor(count);
      room = runs.lists.isAtHand(less) ? resize(h, at, count, less) : room;
    }
    h[at + HOLDER_COUNT] = (room << ROOM_SHIFT) | count;
    if ((h[at + SHAPE] & RunHeaders.MIXED) != 0) {
      unmark(run);
    }
  }

  /** Takes a run out of its shelf's list; the last one moves to its place. */
  private void leave(Shelf shelf, int place) {
    IntVector list = shelf.runs;
    int last = list.size() - 1;
    int moved = list.get(last);
    if (place != last) {
      int entry = entryAt(moved, shelf.id, last);
      int[] h = runs.headers.segment(moved);
      int holders = h[RunHeaders.at(moved) + HOLDERS];
      runs.lists.segment(holders)[HolderLists.at(holders) + entry * INTS + PLACE] = place;
      list.set(place, moved);
    }
    list.removeLast();
  }

  private int resize(int[] h, int at, int count, int room) {
    int old = h[at + HOLDERS];
    int list = runs.lists.allocate(room);
    System.arraycopy(
        runs.lists.segment(old),
        HolderLists.at(old),
        runs.lists.segment(list),
        HolderLists.at(list),
        count * INTS);
    runs.lists.release(old, h[at + HOLDER_COUNT] >>> ROOM_SHIFT);
    h[at + HOLDERS] = list;
    return room;
  }

  /** Finds out whether still some shelf has two entries, which readers must put together. */
  private void unmark(int run) {
    boolean mixed = false;
    int count = count(run);
    for (int i = 0; i < count && !mixed; i++) {
      for (int j = 0; j < i && !mixed; j++) {
        mixed = shelfOf(run, i) == shelfOf(run, j);
      }
    }
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run) + SHAPE;
    if (!mixed) {
      h[at] &= ~RunHeaders.MIXED;
    }
  }

  private void forget(int run, int source, long mask) {
    runs.unlist(source, mask);
    if (source != run && mask != 0) {
      runs.trimAlias(source);
    }
  }

  /** Drops an empty run, then each parent that only it had kept. */
  private void drop(int run, long firstLocal) {
    int dropped = run;
    long local = firstLocal;
    while (true) {
      int[] h = runs.headers.segment(dropped);
      int parent = h[RunHeaders.at(dropped) + PARENT];
      runs.drop(dropped, local);
      int[] p = runs.headers.segment(parent);
      int at = RunHeaders.at(parent);
      if (p[at + CHILDREN] != 0) {
        return;
      }
      if (RunHeaders.kind(p[at + SHAPE]) == RunHeaders.ROOT) {
        runs.dropRoot(parent);
        return;
      }
      local = runs.localHash(parent, 0);
      int length = top(union(parent, 0));
      RunHeaders.begin(p, at);
      runs.shorten(parent, length);
      RunHeaders.end(p, at);
      if (length > 0) {
        return;
      }
      dropped = parent;
    }
  }
}
