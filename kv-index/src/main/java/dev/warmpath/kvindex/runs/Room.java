package dev.warmpath.kvindex.runs;

/**
 * Says whether there is room for more, within the byte budget.
 *
 * <p>Single writer.
 */
final class Room {

  private final Runs runs;

  Room(Runs runs) {
    this.runs = runs;
  }

  /** Whether so many slabs and runs can be had. */
  boolean has(int slabs, int headers) {
    return !runs.budget.exceeded() && runs.columns.hasRoom(slabs) && runs.headers.hasRoom(headers);
  }
}
