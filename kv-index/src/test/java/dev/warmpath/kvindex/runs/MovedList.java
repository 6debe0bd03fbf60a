package dev.warmpath.kvindex.runs;

import java.util.stream.LongStream;

/**
 * A prompt's list of holders is moved, and its place given to another prompt's.
 *
 * <p>Confined to one thread.
 */
public final class MovedList extends MovedScene {

  private static final int BLOCKS = 20;

  /** Lists of this room take nearly half a segment. */
  private static final int LARGE = HolderLists.roomFor(768);

  public MovedList() {
    super(LongStream.range(0, BLOCKS).toArray());
    store(0, SPACE, LongStream.range(0, BLOCKS).toArray());
    store(1, OTHER, -1);
    // Now the first segment becomes sparse, and is no more the one in which lists are made.
    int[] large = {runs.lists.allocate(LARGE), runs.lists.allocate(LARGE)};
    runs.lists.allocate(LARGE);
    for (int list : large) {
      runs.lists.release(list, LARGE);
    }
  }

  @Override
  public void write() {
    if (!holdings.giveBackLists()) {
      throw new IllegalStateException("no list was moved");
    }
    for (int room = LARGE; room >= 0; room--) {
      while (runs.lists.isAtHand(room)) {
        runs.lists.allocate(room);
      }
    }
    store(1, OTHER, LongStream.range(100, 100 + BLOCKS).toArray());
  }
}
