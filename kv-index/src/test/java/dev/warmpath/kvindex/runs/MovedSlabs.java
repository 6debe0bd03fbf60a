package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.runs.Room.SlabMover;
import java.util.stream.LongStream;

/**
 * Slabs of a prompt are moved, and the second one's id is given to a prompt that has what the
 * question asks for there.
 *
 * <p>Confined to one thread.
 */
abstract class MovedSlabs extends MovedScene {

  private static final int FIRST_MOVED = SlabColumns.SEGMENT_SLABS;

  private final SlabMover mover = new SlabMover(runs, holdings);

  /**
   * @param kept slabs of the prompt that stay where they are
   */
  MovedSlabs(int kept) {
    super(LongStream.concat(blocks(0, 1), blocks(101, 103)).toArray());
    // What lies in the first segment is never moved.
    int[] taken = new int[FIRST_MOVED - 1 - kept];
    for (int i = 0; i < taken.length; i++) {
      taken[i] = runs.columns.allocate(1);
    }
    store(0, SPACE, blocks(0, 3).toArray());
    for (int slab : taken) {
      runs.columns.release(slab);
    }
    store(1, OTHER, -1);
  }

  @Override
  public void write() {
    int owner = runs.columns.owner(FIRST_MOVED);
    if (!mover.giveBack(0) || !runs.columns.hasRoom(SlabColumns.SEGMENT_SLABS, 0)) {
      throw new IllegalStateException("no slab was moved");
    }
    store(1, OTHER, blocks(101, 103).toArray());
    if (runs.columns.owner(FIRST_MOVED) == owner) {
      throw new IllegalStateException("slab=" + FIRST_MOVED + " was given to nobody");
    }
  }

  private static LongStream blocks(int fromSlab, int toSlab) {
    return LongStream.range(
        (long) fromSlab * SlabColumns.BLOCKS, (long) toSlab * SlabColumns.BLOCKS);
  }
}
