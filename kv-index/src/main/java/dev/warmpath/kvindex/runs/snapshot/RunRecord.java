package dev.warmpath.kvindex.runs.snapshot;

import dev.warmpath.kvindex.runs.memory.RunHeaders;
import dev.warmpath.kvindex.runs.memory.SlabColumns;
import dev.warmpath.kvindex.runs.tree.Holdings;
import java.io.IOException;
import java.util.Arrays;

/**
 * One run as it stands in a snapshot; right in itself, whatever the runs around it are. Reused from
 * run to run.
 *
 * <p>Single writer.
 */
public final class RunRecord {

  public final long[] localHashes = new long[RunHeaders.MAX_BLOCKS];
  public final long[] engineHashes = new long[RunHeaders.MAX_BLOCKS];

  /** The number of the run behind which it hangs; 0 when there are no more runs. */
  public int parent;

  public int offset;
  public int length;
  public boolean touched;
  public int holders;
  public int aliases;

  /** Shelf number, source (0 for the run itself, i for its ith alias) and blocks of each holder. */
  public int[] shelves = new int[16];

  public int[] sources = new int[16];
  public long[] masks = new long[16];

  /** For each source the blocks that anybody holds under its engine hashes. */
  public long[] held = new long[4];

  /** The engine hashes of all aliases, for the blocks that anybody holds under them. */
  public long[] aliasHashes = new long[16];

  /** For each shelf number the last run that it was seen in, to notice it twice. */
  private final int[] seenIn;

  private int runs;

  /**
   * @param shelfBound all shelf numbers are below this
   */
  public RunRecord(int shelfBound) {
    seenIn = new int[shelfBound];
  }

  /** Reads the next run; false if there is none. */
  public boolean read(SnapshotInput in) throws IOException {
    parent = in.int32("parent", 0, Integer.MAX_VALUE);
    if (parent == 0) {
      return false;
    }
    runs++;
    offset = in.int8("offset", RunHeaders.MAX_BLOCKS);
    length = in.int8("length", RunHeaders.MAX_BLOCKS);
    if (length == 0) {
      throw in.damaged("length=0");
    }
    touched = in.int8("touched", 1) == 1;
    holders = in.int32("holders", 0, Holdings.COUNT);
    in.longs(localHashes, 0, length);
    in.longs(engineHashes, 0, length);
    readHolders(in);
    readAliases(in);
    return true;
  }

  /** Held (shelf, engine hash) pairs. */
  public long heldBlocks() {
    long count = 0;
    for (int i = 0; i < holders; i++) {
      count += Long.bitCount(masks[i]);
    }
    return count;
  }

  /** Slabs that it takes, with those of its aliases. */
  public int slabs() {
    int slabs = (length + SlabColumns.BLOCKS - 1) / SlabColumns.BLOCKS;
    for (int source = 1; source <= aliases; source++) {
      for (long left = held[source]; left != 0; left >>>= SlabColumns.BLOCKS) {
        slabs += (left & 0xFF) == 0 ? 0 : 1;
      }
    }
    return slabs;
  }

  private void readHolders(SnapshotInput in) throws IOException {
    aliases = 0;
    held[0] = 0;
    for (int i = 0; i < holders; i++) {
      if (i == shelves.length) {
        shelves = Arrays.copyOf(shelves, 2 * i);
        sources = Arrays.copyOf(sources, 2 * i);
        masks = Arrays.copyOf(masks, 2 * i);
      }
      shelves[i] = in.int32("shelf", 0, seenIn.length - 1);
      sources[i] = in.int32("source", 0, aliases + 1);
      if (isTwice(i)) {
        throw in.damaged("shelf=" + shelves[i] + " holds twice");
      }
      masks[i] = in.int64();
      if (masks[i] == 0 || Long.numberOfLeadingZeros(masks[i]) < Long.SIZE - length) {
        throw in.damaged("blocks=" + Long.toHexString(masks[i]) + " of length=" + length);
      }
      hold(sources[i], masks[i]);
    }
  }

  private boolean isTwice(int holder) {
    int shelf = shelves[holder];
    boolean twice = false;
    if (seenIn[shelf] == runs) {
      for (int i = 0; i < holder; i++) {
        twice |= shelves[i] == shelf && sources[i] == sources[holder];
      }
    }
    seenIn[shelf] = runs;
    return twice;
  }

  private void hold(int source, long mask) {
    if (source > aliases) {
      aliases = source;
      if (source == held.length) {
        held = Arrays.copyOf(held, 2 * source);
      }
      held[source] = 0;
    }
    held[source] |= mask;
  }

  private void readAliases(SnapshotInput in) throws IOException {
    int count = 0;
    for (int source = 1; source <= aliases; source++) {
      int more = Long.bitCount(held[source]);
      if (count + more > aliasHashes.length) {
        aliasHashes = Arrays.copyOf(aliasHashes, 2 * (count + more));
      }
      in.longs(aliasHashes, count, more);
      count += more;
    }
  }
}
