package dev.warmpath.kvindex.runs.snapshot;

import static dev.warmpath.kvindex.runs.memory.HolderLists.INTS;
import static dev.warmpath.kvindex.runs.memory.HolderLists.SHELF;
import static dev.warmpath.kvindex.runs.memory.HolderLists.SOURCE;
import static dev.warmpath.kvindex.runs.memory.RunHeaders.CHILDREN;
import static dev.warmpath.kvindex.runs.memory.RunHeaders.HOLDERS;
import static dev.warmpath.kvindex.runs.memory.RunHeaders.PARENT;
import static dev.warmpath.kvindex.runs.memory.RunHeaders.SHAPE;
import static dev.warmpath.kvindex.runs.memory.RunHeaders.TOUCHED;

import dev.warmpath.kvindex.runs.memory.HolderLists;
import dev.warmpath.kvindex.runs.memory.RunHeaders;
import dev.warmpath.kvindex.runs.memory.SlabColumns;
import dev.warmpath.kvindex.runs.tree.Holdings;
import dev.warmpath.kvindex.runs.tree.Roots;
import dev.warmpath.kvindex.runs.tree.Runs;
import java.util.Arrays;

/**
 * Writes the runs to a snapshot: parents before their children, and what was asked for lately
 * before the rest, so that a smaller index can keep the better part.
 *
 * <p>Confined to the writer.
 */
public final class TreeWriter {

  private final Runs runs;
  private final Holdings holdings;
  private final int[] shelfNumbers;
  private final SnapshotOutput out;
  private final int[] numbers;
  private int lastNumber;
  private int[] path = new int[64];
  private int[] aliases = new int[16];
  private int aliasCount;

  /**
   * @param shelfNumbers for each shelf's id its number in the snapshot
   */
  public TreeWriter(Runs runs, Holdings holdings, int[] shelfNumbers, SnapshotOutput out) {
    this.runs = runs;
    this.holdings = holdings;
    this.shelfNumbers = shelfNumbers;
    this.out = out;
    numbers = new int[runs.headers.bound()];
  }

  public void write() {
    writeRoots();
    for (int touched = 1; touched >= 0; touched--) {
      for (int run = 1; run < numbers.length; run++) {
        if (header(run, TOUCHED) >= touched && runs.kind(run) == RunHeaders.NAMES) {
          writeWithParents(run);
        }
      }
    }
    out.int32(0);
    runs.copies.forEach(this::writeCopies);
    out.int32(0);
  }

  private void writeRoots() {
    Roots roots = runs.roots();
    for (int i = 0; i < roots.size(); i++) {
      if (header(roots.runAt(i), CHILDREN) > 0) {
        numbers[roots.runAt(i)] = ++lastNumber;
      }
    }
    out.int32(lastNumber);
    for (int i = 0; i < roots.size(); i++) {
      if (numbers[roots.runAt(i)] > 0) {
        out.int64(roots.keyAt(i));
      }
    }
  }

  private void writeWithParents(int leaf) {
    int length = 0;
    for (int run = leaf; numbers[run] == 0; run = header(run, PARENT)) {
      if (length == path.length) {
        path = Arrays.copyOf(path, 2 * length);
      }
      path[length++] = run;
    }
    while (length > 0) {
      writeRun(path[--length]);
    }
  }

  private void writeRun(int run) {
    int shape = header(run, SHAPE);
    int length = RunHeaders.length(shape);
    numbers[run] = ++lastNumber;
    out.int32(numbers[header(run, PARENT)]);
    out.int8(RunHeaders.parentOffset(shape));
    out.int8(length);
    out.int8(header(run, TOUCHED));
    out.int32(holdings.count(run));
    for (int offset = 0; offset < length; offset += SlabColumns.BLOCKS) {
      int slab = runs.slab(run, offset);
      out.longs(runs.columns.locals(slab), SlabColumns.at(slab), Math.min(8, length - offset));
    }
    for (int offset = 0; offset < length; offset += SlabColumns.BLOCKS) {
      int slab = runs.slab(run, offset);
      out.longs(runs.columns.hashes(slab), SlabColumns.at(slab), Math.min(8, length - offset));
    }
    writeHolders(run);
    for (int i = 0; i < aliasCount; i++) {
      writeAlias(aliases[i]);
    }
  }

  private void writeHolders(int run) {
    aliasCount = 0;
    int list = header(run, HOLDERS);
    int[] entries = runs.lists.segment(list);
    int end = HolderLists.at(list) + holdings.count(run) * INTS;
    for (int at = HolderLists.at(list); at < end; at += INTS) {
      out.int32(shelfNumbers[entries[at + SHELF]]);
      if (numbers[entries[at + SOURCE]] == 0) {
        numberAlias(entries[at + SOURCE]);
      }
      out.int32(numbers[entries[at + SOURCE]] - numbers[run]);
      out.int64(HolderLists.mask(entries, at));
    }
  }

  private void numberAlias(int alias) {
    if (aliasCount == aliases.length) {
      aliases = Arrays.copyOf(aliases, 2 * aliasCount);
    }
    aliases[aliasCount++] = alias;
    numbers[alias] = ++lastNumber;
  }

  private void writeAlias(int alias) {
    for (int offset = 0; offset < RunHeaders.MAX_BLOCKS; offset += SlabColumns.BLOCKS) {
      int slab = runs.slab(alias, offset);
      int listed = slab == 0 ? 0 : runs.columns.listed(slab);
      for (; listed != 0; listed &= listed - 1) {
        int at = SlabColumns.at(slab) + Integer.numberOfTrailingZeros(listed);
        out.int64(runs.columns.hashes(slab)[at]);
      }
    }
  }

  private void writeCopies(long key) {
    int shelf = (int) (key >>> 32);
    int block = (int) key;
    long place = runs.placeOf(block);
    out.int32(numbers[Runs.run(place)]);
    out.int8(Runs.offset(place));
    out.int32(shelfNumbers[shelf]);
    out.int32(runs.copies.more(shelf, block));
  }

  private int header(int run, int field) {
    return runs.headers.segment(run)[RunHeaders.at(run) + field];
  }
}
