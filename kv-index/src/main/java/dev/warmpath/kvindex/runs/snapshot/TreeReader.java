package dev.warmpath.kvindex.runs.snapshot;

import static dev.warmpath.kvindex.runs.memory.RunHeaders.CHILDREN;
import static dev.warmpath.kvindex.runs.memory.RunHeaders.SHAPE;
import static dev.warmpath.kvindex.runs.memory.RunHeaders.TOUCHED;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.runs.engine.RunEngine;
import dev.warmpath.kvindex.runs.memory.RunHeaders;
import dev.warmpath.kvindex.runs.memory.SlabColumns;
import dev.warmpath.kvindex.runs.tree.Runs;
import dev.warmpath.kvindex.runs.tree.Shelves.Shelf;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * Reads the runs of a snapshot into an index that has none yet.
 *
 * <p>What there is no room for is left out with all that hangs behind it, and counted. Confined to
 * the writer.
 */
public final class TreeReader {

  private static final int MAX_ROOTS = 1 << 16;

  /** What a block takes in a snapshot of long runs; with shorter ones or more holders, more. */
  private static final int BYTES_PER_BLOCK = 17;

  private static final int ROOM_FOR_GUESSES = 8;

  private final RunEngine.Core core;
  private final Runs runs;
  private final FleetReader fleet;
  private final SnapshotInput in;
  private final RunRecord record;

  /** For each number in the snapshot the run, or 0 if it was left out. */
  private int[] runOf = new int[64];

  /** For each number the length that the snapshot says; 0 for roots and aliases. */
  private byte[] lengths = new byte[64];

  private int roots;
  private int last;
  private long omittedBlocks;

  public TreeReader(RunEngine.Core core, FleetReader fleet, SnapshotInput in) {
    this.core = core;
    this.fleet = fleet;
    this.in = in;
    runs = core.runs();
    record = new RunRecord(fleet.shelves());
  }

  /** Reads all runs and copies; returns how many held blocks there was no room for. */
  public long read() throws IOException {
    readRoots();
    reserve();
    while (record.read(in)) {
      readRun();
    }
    trim();
    readCopies();
    return omittedBlocks;
  }

  /** Spares the hash table its growth, if there is room even for a wrong guess. */
  private void reserve() throws IOException {
    int bytes = in.available();
    if (bytes < runs.budget.maxBytes() / ROOM_FOR_GUESSES) {
      runs.hashes.reserve(bytes / BYTES_PER_BLOCK);
    }
  }

  private void readRoots() throws IOException {
    roots = in.int32("roots", 0, MAX_ROOTS);
    Set<Long> keys = new HashSet<>();
    for (int i = 0; i < roots; i++) {
      long key = in.int64();
      if (!keys.add(key)) {
        throw in.damaged("root=" + key + " twice");
      }
      number(core.room().has(0, 1) ? Runs.run(runs.root(key)) : 0, 0);
    }
  }

  private void readRun() throws IOException {
    int parent = record.parent;
    if (parent > last) {
      throw in.damaged("parent=" + parent + " of run=" + (last + 1));
    }
    boolean fits = parent <= roots ? record.offset == 0 : record.offset > 0;
    if (!fits || record.offset > lengths[parent]) {
      throw in.damaged("offset=" + record.offset + " in parent=" + parent);
    }
    if (runOf[parent] == 0 || !core.room().has(record.slabs(), 1 + record.aliases)) {
      omittedBlocks += record.heldBlocks();
      for (int source = 0; source <= record.aliases; source++) {
        number(0, source == 0 ? record.length : 0);
      }
    } else {
      restore(runOf[parent]);
    }
  }

  private void restore(int parent) throws IOException {
    int offset = record.offset;
    long local = record.localHashes[0];
    boolean goesOn = offset < runs.length(parent) && runs.localHash(parent, offset) == local;
    if (goesOn || runs.child(parent, offset, local) != 0) {
      throw in.damaged("run=" + (last + 1) + " has the name of another");
    }
    int run = runs.newChild(parent, offset);
    int[] h = runs.headers.segment(run);
    h[RunHeaders.at(run) + TOUCHED] = record.touched ? 1 : 0;
    number(run, record.length);
    fillNames(run);
    fillAliases(run);
    fillHolders(run);
    runs.hashes.prefetch(record.engineHashes, 0, record.length);
    for (int source = 0; source <= record.aliases; source++) {
      list(runOf[last - record.aliases + source], source);
    }
    RunHeaders.end(h, RunHeaders.at(run));
    runs.hang(run);
  }

  private void fillNames(int run) {
    for (int offset = 0; offset < record.length; offset += SlabColumns.BLOCKS) {
      int slab = runs.provide(run, offset);
      int at = SlabColumns.at(slab);
      int count = Math.min(SlabColumns.BLOCKS, record.length - offset);
      System.arraycopy(record.localHashes, offset, runs.columns.locals(slab), at, count);
      System.arraycopy(record.engineHashes, offset, runs.columns.hashes(slab), at, count);
    }
    runs.lengthen(run, record.length);
  }

  private void fillAliases(int run) {
    int hash = 0;
    for (int source = 1; source <= record.aliases; source++) {
      int alias = runs.newAlias(run);
      number(alias, 0);
      for (long left = record.held[source]; left != 0; left &= left - 1) {
        int offset = Long.numberOfTrailingZeros(left);
        runs.provide(alias, offset);
        runs.rename(alias, offset, record.aliasHashes[hash++]);
      }
    }
  }

  private void fillHolders(int run) throws IOException {
    core.holdings().provide(run, record.holders);
    for (int i = 0; i < record.holders; i++) {
      Shelf shelf = fleet.shelf(record.shelves[i]);
      int source = runOf[last - record.aliases + record.sources[i]];
      core.holdings().put(shelf, run, source, record.masks[i]);
      fleet.engine(shelf).more(shelf, Long.bitCount(record.masks[i]));
    }
    checkSuspended(run);
  }

  /** No shelf may hold what is suspended on it. */
  private void checkSuspended(int run) throws IOException {
    for (int i = 0; i < record.holders; i++) {
      Shelf shelf = fleet.shelf(record.shelves[i]);
      int source = runOf[last - record.aliases + record.sources[i]];
      if (shelf.suspended != null
          && (core.holdings().held(run, source, shelf.suspended.id) & record.masks[i]) != 0) {
        throw in.damaged("shelf=" + record.shelves[i] + " holds what is suspended on it");
      }
    }
  }

  private void list(int run, int source) throws IOException {
    long left = record.held[source];
    for (int offset = 0; left != 0; offset += SlabColumns.BLOCKS) {
      int here = (int) left & 0xFF;
      while (here != 0) {
        int from = Integer.numberOfTrailingZeros(here);
        int to = from + Integer.numberOfTrailingZeros(~(here >>> from));
        int slab = runs.slab(run, offset);
        int listed = runs.hashes.add(slab, from, to);
        if (listed < to - from) {
          listTwin(run, source, offset + from + listed);
          listed++;
        }
        here &= -1 << (from + listed);
      }
      left >>>= SlabColumns.BLOCKS;
    }
  }

  private void listTwin(int run, int source, int offset) throws IOException {
    int others = runs.hashes.find(runs.engineHash(run, offset));
    for (int i = 0; i < others; i++) {
      checkHolders(source, offset, runs.placeOf(runs.hashes.found(i)));
    }
    core.placement().countTwin();
    runs.hashes.addTwin(runs.slab(run, offset), offset & 7);
  }

  /** No engine may hold an engine hash at two places. */
  private void checkHolders(int source, int offset, long other) throws IOException {
    for (int i = 0; i < record.holders; i++) {
      if (record.sources[i] == source
          && ((record.masks[i] >>> offset) & 1) != 0
          && core.holdings().isHeld(other, fleet.shelf(record.shelves[i]).slot)) {
        throw in.damaged("shelf=" + record.shelves[i] + " holds an engine hash at two places");
      }
    }
  }

  /** Children come before their parents, so that parents whom nobody needs go too. */
  private void trim() {
    for (int number = last; number > roots; number--) {
      if (runOf[number] != 0 && lengths[number] > 0) {
        trim(runOf[number]);
      }
    }
    for (int number = 1; number <= roots; number++) {
      if (runOf[number] != 0 && header(runOf[number], CHILDREN) == 0) {
        runs.dropRoot(runOf[number]);
      }
    }
  }

  /** A run may be longer than needed if its children came or went; here it is not. */
  private void trim(int run) {
    int top = Long.SIZE - Long.numberOfLeadingZeros(core.holdings().union(run, 0));
    int length = Math.max(top, RunHeaders.childBound(header(run, SHAPE)));
    long local = runs.localHash(run, 0);
    runs.shorten(run, length);
    if (length == 0) {
      runs.drop(run, local);
    }
  }

  private void readCopies() throws IOException {
    int number = in.int32("run", 0, last);
    while (number != 0) {
      int offset = in.int8("offset", RunHeaders.MAX_BLOCKS - 1);
      Shelf shelf = fleet.shelf(in.int32("shelf", 0, fleet.shelves() - 1));
      int more = in.int32("copies", -1, Integer.MAX_VALUE);
      if (more == 0) {
        throw in.damaged("copies=0");
      }
      if (runOf[number] != 0) {
        restoreCopies(runOf[number], offset, shelf, more);
      }
      number = in.int32("run", 0, last);
    }
  }

  private void restoreCopies(int source, int offset, Shelf shelf, int more) throws IOException {
    long held = core.holdings().held(runs.names(source), source, shelf.id);
    if (((held >>> offset) & 1) == 0
        || shelf.isSuspended()
        || fleet.engine(shelf).counting() != CopyCounting.PER_COPY) {
      throw in.damaged("copies of a block that is not held, or not counted");
    }
    int block = runs.block(source, offset);
    if (runs.copies.more(shelf.id, block) != 0) {
      throw in.damaged("copies of a block twice");
    }
    if (core.room().hasSpare()) {
      runs.copies.add(shelf.id, block, more);
    } else {
      omittedBlocks++;
    }
  }

  private void number(int run, int length) {
    if (++last == runOf.length) {
      runOf = Arrays.copyOf(runOf, 2 * last);
      lengths = Arrays.copyOf(lengths, 2 * last);
    }
    runOf[last] = run;
    lengths[last] = (byte) length;
  }

  private int header(int run, int field) {
    return runs.headers.segment(run)[RunHeaders.at(run) + field];
  }
}
