package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.RunHeaders.SLABS;

/**
 * Moves slabs out of a segment that has few left, so that it can be given back.
 *
 * <p>Single writer; readers whose run is touched begin again.
 */
public final class SlabMover {

  private final Runs runs;
  private final Holdings holdings;

  public SlabMover(Runs runs, Holdings holdings) {
    this.runs = runs;
    this.holdings = holdings;
  }

  /** Gives a segment back; false if so many free slabs would not remain then. */
  public boolean giveBack(int remaining) {
    if (runs.columns.free() < SlabColumns.SEGMENT_SLABS + remaining) {
      return false;
    }
    int first = runs.columns.close();
    for (int slab = first; slab < first + SlabColumns.SEGMENT_SLABS; slab++) {
      int run = runs.columns.owner(slab);
      if (run != 0) {
        move(run, slab);
      }
    }
    runs.columns.drop(first);
    return true;
  }

  private void move(int run, int slab) {
    int moved = runs.columns.allocate(run);
    copy(runs.columns.locals(slab), slab, runs.columns.locals(moved), moved);
    copy(runs.columns.hashes(slab), slab, runs.columns.hashes(moved), moved);
    moveCopies(run, slab, moved);
    int listed = runs.columns.listed(slab);
    runs.hashes.remove(slab, listed);
    for (int left = listed; left != 0; left &= left - 1) {
      runs.hashes.addTwin(moved, Integer.numberOfTrailingZeros(left));
    }
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    RunHeaders.begin(h, at);
    h[at + SLABS + ordinal(h, at, slab)] = moved;
    RunHeaders.end(h, at);
  }

  private static void copy(long[] from, int slab, long[] to, int moved) {
    System.arraycopy(from, SlabColumns.at(slab), to, SlabColumns.at(moved), SlabColumns.BLOCKS);
  }

  private static int ordinal(int[] h, int at, int slab) {
    int ordinal = 0;
    while (h[at + SLABS + ordinal] != slab) {
      ordinal++;
    }
    return ordinal;
  }

  /** Copies are known by the number of their block, which is that of its slab. */
  private void moveCopies(int source, int slab, int moved) {
    if (runs.copies.isEmpty()) {
      return;
    }
    int run = runs.names(source);
    for (int i = 0; i < holdings.count(run); i++) {
      if (holdings.sourceOf(run, i) == source) {
        moveCopiesOf(holdings.shelfOf(run, i), slab, moved);
      }
    }
  }

  private void moveCopiesOf(int shelf, int slab, int moved) {
    for (int block = 0; block < SlabColumns.BLOCKS; block++) {
      int before = slab * SlabColumns.BLOCKS + block;
      int more = runs.copies.more(shelf, before);
      if (more != 0) {
        runs.copies.forget(shelf, before);
        runs.copies.add(shelf, moved * SlabColumns.BLOCKS + block, more);
      }
    }
  }
}
