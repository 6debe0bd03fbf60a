package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * One run as it stands in a snapshot; right in itself, whatever the runs around it are. Reused from
 * run to run.
 *
 * <p>Single writer.
 */
final class RunRecord {

  final long[] localHashes = new long[RunHeaders.MAX_BLOCKS];
  final long[] engineHashes = new long[RunHeaders.MAX_BLOCKS];

  /** The number of the run behind which it hangs; 0 when there are no more runs. */
  int parent;

  int offset;
  int length;
  boolean touched;
  int holders;
  int aliases;

  /** Shelf number, source (0 for the run itself, i for its ith alias) and blocks of each holder. */
  int[] shelves = new int[16];

  int[] sources = new int[16];
  long[] masks = new long[16];

  /** For each source the blocks that anybody holds under its engine hashes. */
  long[] held = new long[4];

  /** The engine hashes of all aliases, for the blocks that anybody holds under them. */
  long[] aliasHashes = new long[16];

  int aliasBlocks;

  /** For each shelf number the last run that it was seen in, to notice it twice. */
  private final int[] seenIn;

  private int runs;

  /**
   * @param shelfBound all shelf numbers are below this
   */
  RunRecord(int shelfBound) {
    seenIn = new int[shelfBound];
  }

  /** Writes the run. */
  void writeTo(SnapshotOutput out) {
    out.int32(parent);
    out.int8(offset);
    out.int8(length);
    out.flag(touched);
    out.int32(holders);
    out.longs(localHashes, 0, length);
    out.longs(engineHashes, 0, length);
    for (int i = 0; i < holders; i++) {
      out.int32(shelves[i]);
      out.int32(sources[i]);
      out.int64(masks[i]);
    }
    out.longs(aliasHashes, 0, aliasBlocks);
  }

  /** Reads the next run; false if there is none. */
  boolean readFrom(SnapshotInput in) throws IOException {
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
    touched = in.flag("touched");
    int count = in.int32("holders", 0, Holdings.COUNT);
    in.longs(localHashes, 0, length);
    in.longs(engineHashes, 0, length);
    clearHolders();
    for (int i = 0; i < count; i++) {
      int shelf = in.int32("shelf", 0, seenIn.length - 1);
      int source = in.int32("source", 0, aliases + 1);
      long mask = in.int64();
      if (mask == 0 || Long.numberOfLeadingZeros(mask) < Long.SIZE - length) {
        throw in.damaged("blocks=" + Long.toHexString(mask) + " of length=" + length);
      }
      addHolder(shelf, source, mask);
      if (isTwice(i)) {
        throw in.damaged("shelf=" + shelf + " holds twice");
      }
    }
    for (int source = 1; source <= aliases; source++) {
      int more = Long.bitCount(held[source]);
      ensureAliasBlocks(more);
      in.longs(aliasHashes, aliasBlocks, more);
      aliasBlocks += more;
    }
    return true;
  }

  /** Begins a run that nobody holds yet. */
  void clearHolders() {
    holders = 0;
    aliases = 0;
    aliasBlocks = 0;
    held[0] = 0;
  }

  void addHolder(int shelf, int source, long mask) {
    if (holders == shelves.length) {
      shelves = Arrays.copyOf(shelves, 2 * holders);
      sources = Arrays.copyOf(sources, 2 * holders);
      masks = Arrays.copyOf(masks, 2 * holders);
    }
    shelves[holders] = shelf;
    sources[holders] = source;
    masks[holders++] = mask;
    if (source > aliases) {
      aliases = source;
      if (source == held.length) {
        held = Arrays.copyOf(held, 2 * source);
      }
      held[source] = 0;
    }
    held[source] |= mask;
  }

  void addAliasHash(long engineHash) {
    ensureAliasBlocks(1);
    aliasHashes[aliasBlocks++] = engineHash;
  }

  /** Held (shelf, engine hash) pairs. */
  long heldBlocks() {
    long count = 0;
    for (int i = 0; i < holders; i++) {
      count += Long.bitCount(masks[i]);
    }
    return count;
  }

  /** Slabs that it takes, with those of its aliases. */
  int slabs() {
    int slabs = (length + SlabColumns.BLOCKS - 1) / SlabColumns.BLOCKS;
    for (int source = 1; source <= aliases; source++) {
      for (long left = held[source]; left != 0; left >>>= SlabColumns.BLOCKS) {
        slabs += (left & 0xFF) == 0 ? 0 : 1;
      }
    }
    return slabs;
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

  private void ensureAliasBlocks(int more) {
    if (aliasBlocks + more > aliasHashes.length) {
      aliasHashes = Arrays.copyOf(aliasHashes, 2 * (aliasBlocks + more));
    }
  }
}
