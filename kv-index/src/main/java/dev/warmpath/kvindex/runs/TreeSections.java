package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.HolderLists.INTS;
import static dev.warmpath.kvindex.runs.HolderLists.SHELF;
import static dev.warmpath.kvindex.runs.HolderLists.SOURCE;
import static dev.warmpath.kvindex.runs.RunHeaders.CHILDREN;
import static dev.warmpath.kvindex.runs.RunHeaders.HOLDERS;
import static dev.warmpath.kvindex.runs.RunHeaders.PARENT;
import static dev.warmpath.kvindex.runs.RunHeaders.SHAPE;
import static dev.warmpath.kvindex.runs.RunHeaders.TOUCHED;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import dev.warmpath.kvindex.snapshot.Section;
import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * What a snapshot says of the tree: roots, runs, and copies beyond the first.
 *
 * <p>For one snapshot, to be written or to be read. Parents come before their children, and what
 * was asked for lately before the rest, so that a smaller index can keep the better part: what
 * there is no room for is left out with all that hangs behind it, and counted. Confined to the
 * writer.
 */
final class TreeSections {

  private static final int MAX_ROOTS = 1 << 16;

  /** What a block takes in a snapshot of long runs; with shorter ones or more holders, more. */
  private static final int BYTES_PER_BLOCK = 17;

  private static final int ROOM_FOR_GUESSES = 8;

  private final RunEngine.Core core;
  private final Runs runs;
  private final EngineSections fleet;
  private final RunRecord record;

  /** Roots, runs and their aliases are numbered from 1 in the order in which they stand there. */
  private int last;

  private int roots;

  /** Of a snapshot that is written: for each run its number, or 0 if it was not written yet. */
  private final int[] numbers;

  private int[] path = new int[64];
  private int[] aliases = new int[16];
  private int aliasCount;

  /** Of one that is read: for each number the run, or 0 if it was left out. */
  private int[] runOf = new int[64];

  /** For each number the length that the snapshot says; 0 for roots and aliases. */
  private byte[] lengths = new byte[64];

  private long omittedBlocks;

  /**
   * @param fleet written or read already
   */
  TreeSections(RunEngine.Core core, EngineSections fleet) {
    this.core = core;
    this.fleet = fleet;
    runs = core.runs();
    numbers = new int[runs.headers.bound()];
    record = new RunRecord(fleet.shelves());
  }

  void write(SnapshotOutput out) {
    writeRoots(out);
    out.begin(Section.RUNS);
    for (int touched = 1; touched >= 0; touched--) {
      for (int run = 1; run < numbers.length; run++) {
        if (header(run, TOUCHED) >= touched && runs.kind(run) == RunHeaders.NAMES) {
          writeWithParents(run, out);
        }
      }
    }
    out.int32(0);
    out.end();
    out.begin(Section.COPIES);
    runs.copies.forEach(key -> writeCopies(key, out));
    out.int32(0);
    out.end();
  }

  /** Reads all runs and copies; returns how many held blocks there was no room for. */
  long read(SnapshotInput in) throws IOException {
    readRoots(in);
    reserve(in);
    in.begin(Section.RUNS);
    while (record.readFrom(in)) {
      readRun(in);
    }
    in.end();
    trim();
    in.begin(Section.COPIES);
    readCopies(in);
    in.end();
    return omittedBlocks;
  }

  /** Spares the hash table its growth, if there is room even for a wrong guess. */
  private void reserve(SnapshotInput in) throws IOException {
    int bytes = in.available();
    if (bytes < runs.budget.maxBytes() / ROOM_FOR_GUESSES) {
      runs.hashes.reserve(bytes / BYTES_PER_BLOCK);
    }
  }

  private void writeRoots(SnapshotOutput out) {
    Roots all = runs.roots();
    for (int i = 0; i < all.size(); i++) {
      if (header(all.runAt(i), CHILDREN) > 0) {
        numbers[all.runAt(i)] = ++last;
      }
    }
    out.begin(Section.ROOTS);
    out.int32(last);
    for (int i = 0; i < all.size(); i++) {
      if (numbers[all.runAt(i)] > 0) {
        out.int64(all.keyAt(i));
      }
    }
    out.end();
  }

  private void readRoots(SnapshotInput in) throws IOException {
    in.begin(Section.ROOTS);
    roots = in.int32("roots", 0, MAX_ROOTS);
    Set<Long> keys = new HashSet<>();
    for (int i = 0; i < roots; i++) {
      long key = in.int64();
      if (!keys.add(key)) {
        throw in.damaged("root=" + key + " twice");
      }
      number(core.room().has(0, 1) ? Runs.run(runs.root(key)) : 0, 0);
    }
    in.end();
  }

  private void writeWithParents(int leaf, SnapshotOutput out) {
    int length = 0;
    for (int run = leaf; numbers[run] == 0; run = header(run, PARENT)) {
      if (length == path.length) {
        path = Arrays.copyOf(path, 2 * length);
      }
      path[length++] = run;
    }
    while (length > 0) {
      note(path[--length]);
      record.writeTo(out);
    }
  }

  /** Numbers a run and its aliases, and puts down what is to be written of them. */
  private void note(int run) {
    int shape = header(run, SHAPE);
    numbers[run] = ++last;
    record.parent = numbers[header(run, PARENT)];
    record.offset = RunHeaders.parentOffset(shape);
    record.length = RunHeaders.length(shape);
    record.touched = header(run, TOUCHED) != 0;
    for (int offset = 0; offset < record.length; offset += SlabColumns.BLOCKS) {
      int slab = runs.slab(run, offset);
      int at = SlabColumns.at(slab);
      int count = Math.min(SlabColumns.BLOCKS, record.length - offset);
      System.arraycopy(runs.columns.locals(slab), at, record.localHashes, offset, count);
      System.arraycopy(runs.columns.hashes(slab), at, record.engineHashes, offset, count);
    }
    noteHolders(run);
    for (int i = 0; i < aliasCount; i++) {
      noteAlias(aliases[i]);
    }
  }

  private void noteHolders(int run) {
    aliasCount = 0;
    record.clearHolders();
    int list = header(run, HOLDERS);
    int[] entries = runs.lists.segment(list);
    int end = HolderLists.at(list) + core.holdings().count(run) * INTS;
    for (int at = HolderLists.at(list); at < end; at += INTS) {
      if (numbers[entries[at + SOURCE]] == 0) {
        numberAlias(entries[at + SOURCE]);
      }
      record.addHolder(
          fleet.number(entries[at + SHELF]),
          numbers[entries[at + SOURCE]] - numbers[run],
          HolderLists.mask(entries, at));
    }
  }

  private void numberAlias(int alias) {
    if (aliasCount == aliases.length) {
      aliases = Arrays.copyOf(aliases, 2 * aliasCount);
    }
    aliases[aliasCount++] = alias;
    numbers[alias] = ++last;
  }

  private void noteAlias(int alias) {
    for (int offset = 0; offset < RunHeaders.MAX_BLOCKS; offset += SlabColumns.BLOCKS) {
      int slab = runs.slab(alias, offset);
      int listed = slab == 0 ? 0 : runs.columns.listed(slab);
      for (; listed != 0; listed &= listed - 1) {
        int at = SlabColumns.at(slab) + Integer.numberOfTrailingZeros(listed);
        record.addAliasHash(runs.columns.hashes(slab)[at]);
      }
    }
  }

  private void readRun(SnapshotInput in) throws IOException {
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
      restore(runOf[parent], in);
    }
  }

  private void restore(int parent, SnapshotInput in) throws IOException {
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
    fillHolders(run, in);
    runs.hashes.prefetch(record.engineHashes, 0, record.length);
    for (int source = 0; source <= record.aliases; source++) {
      list(runOf[last - record.aliases + source], source, in);
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

  private void fillHolders(int run, SnapshotInput in) throws IOException {
    core.holdings().provide(run, record.holders);
    for (int i = 0; i < record.holders; i++) {
      Shelf shelf = fleet.shelf(record.shelves[i]);
      int source = runOf[last - record.aliases + record.sources[i]];
      core.holdings().put(shelf, run, source, record.masks[i]);
      fleet.engine(shelf).more(shelf, Long.bitCount(record.masks[i]));
    }
    checkSuspended(run, in);
  }

  /** No shelf may hold what is suspended on it. */
  private void checkSuspended(int run, SnapshotInput in) throws IOException {
    for (int i = 0; i < record.holders; i++) {
      Shelf shelf = fleet.shelf(record.shelves[i]);
      int source = runOf[last - record.aliases + record.sources[i]];
      if (shelf.suspended != null
          && (core.holdings().held(run, source, shelf.suspended.id) & record.masks[i]) != 0) {
        throw in.damaged("shelf=" + record.shelves[i] + " holds what is suspended on it");
      }
    }
  }

  private void list(int run, int source, SnapshotInput in) throws IOException {
    long left = record.held[source];
    for (int offset = 0; left != 0; offset += SlabColumns.BLOCKS) {
      int here = (int) left & 0xFF;
      while (here != 0) {
        int from = Integer.numberOfTrailingZeros(here);
        int to = from + Integer.numberOfTrailingZeros(~(here >>> from));
        int slab = runs.slab(run, offset);
        int listed = runs.hashes.add(slab, from, to);
        if (listed < to - from) {
          listTwin(run, source, offset + from + listed, in);
          listed++;
        }
        here &= -1 << (from + listed);
      }
      left >>>= SlabColumns.BLOCKS;
    }
  }

  private void listTwin(int run, int source, int offset, SnapshotInput in) throws IOException {
    int others = runs.hashes.find(runs.engineHash(run, offset));
    for (int i = 0; i < others; i++) {
      checkHolders(source, offset, runs.placeOf(runs.hashes.found(i)), in);
    }
    core.placement().countTwin();
    runs.hashes.addTwin(runs.slab(run, offset), offset & 7);
  }

  /** No engine may hold an engine hash at two places. */
  private void checkHolders(int source, int offset, long other, SnapshotInput in)
      throws IOException {
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

  private void writeCopies(long key, SnapshotOutput out) {
    int shelf = (int) (key >>> 32);
    int block = (int) key;
    long place = runs.placeOf(block);
    out.int32(numbers[Runs.run(place)]);
    out.int8(Runs.offset(place));
    out.int32(fleet.number(shelf));
    out.int32(runs.copies.more(shelf, block));
  }

  private void readCopies(SnapshotInput in) throws IOException {
    int number = in.int32("run", 0, last);
    while (number != 0) {
      int offset = in.int8("offset", RunHeaders.MAX_BLOCKS - 1);
      Shelf shelf = fleet.shelf(in.int32("shelf", 0, fleet.shelves() - 1));
      int more = in.int32("copies", -1, Integer.MAX_VALUE);
      if (more == 0) {
        throw in.damaged("copies=0");
      }
      if (runOf[number] != 0) {
        restoreCopies(runOf[number], offset, shelf, more, in);
      }
      number = in.int32("run", 0, last);
    }
  }

  private void restoreCopies(int source, int offset, Shelf shelf, int more, SnapshotInput in)
      throws IOException {
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
