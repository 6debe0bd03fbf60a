package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.Runs.NOWHERE;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.runs.Shelves.Shelf;

/**
 * Puts named blocks into the tree, a stretch at a time: onto names that are there, behind the end
 * of a run, or into a new run.
 *
 * <p>A stretch ends before a block that the engine holds under another name already; what that
 * means is not decided here. Single writer.
 */
public final class Placement {

  private final Runs runs;
  private final Holdings holdings;
  private final StoredBlocks none = new StoredBlocks();
  private StoredBlocks blocks = none;
  private int from;
  private int limit;

  @SuppressWarnings("NullAway.Init") // set by of() before anything is put
  private RunEngine engine;

  @SuppressWarnings("NullAway.Init")
  private Shelf shelf;

  private long end;
  private long last;
  private long twins;

  public Placement(Runs runs, Holdings holdings) {
    this.runs = runs;
    this.holdings = holdings;
  }

  /** Whose blocks are put from now on, and on which shelf. */
  public Placement of(RunEngine engine, Shelf shelf) {
    this.engine = engine;
    this.shelf = shelf;
    return this;
  }

  /** The place behind the last block that was put; also where its name's children hang. */
  public long end() {
    return end;
  }

  /** The source and offset of the last block that was put. */
  public long last() {
    return last;
  }

  /**
   * Puts blocks {@code from …} behind {@code place} and returns how many it put; 0 when the first
   * one is held under another name.
   *
   * @param limit at most so many, none of them unnamed
   */
  public int put(long place, StoredBlocks blocks, int from, int limit) {
    this.blocks = blocks;
    this.from = from;
    this.limit = limit;
    int run = Runs.run(place);
    int offset = Runs.offset(place);
    long local = blocks.localHash(from);
    int length = runs.length(run);
    if (offset < length && runs.localHash(run, offset) == local) {
      return onNames(place);
    }
    int child = runs.child(run, offset, local);
    if (child != 0) {
      return onNames(Runs.place(child, 0));
    }
    if (offset == length && length < RunHeaders.MAX_BLOCKS && runs.kind(run) == RunHeaders.NAMES) {
      return append(run, length);
    }
    return branch(place);
  }

  /** A block was listed whose engine hash is listed for another one, of another engine. */
  public void countTwin() {
    twins++;
  }

  /** The place of a name behind {@code place}, or NOWHERE. */
  public long childPlace(long place, long localHash) {
    int run = Runs.run(place);
    int offset = Runs.offset(place);
    if (offset < runs.length(run) && runs.localHash(run, offset) == localHash) {
      return place;
    }
    int child = runs.child(run, offset, localHash);
    return child == 0 ? NOWHERE : Runs.place(child, 0);
  }

  /**
   * Takes blocks off a shelf; what nobody holds any more is forgotten.
   *
   * @param entry by which the shelf holds them
   */
  public void release(Shelf shelf, int run, int entry, long mask) {
    if (twins > 0) {
      int source = holdings.sourceOf(run, entry);
      for (long left = mask; left != 0; left &= left - 1) {
        settleTwins(run, source, shelf, Long.numberOfTrailingZeros(left));
      }
    }
    holdings.release(shelf, run, entry, mask);
  }

  private void settleTwins(int run, int source, Shelf shelf, int offset) {
    long others = 0;
    for (int i = 0; i < holdings.count(run); i++) {
      if (holdings.sourceOf(run, i) == source && holdings.shelfOf(run, i) != shelf.id) {
        others |= holdings.mask(run, i);
      }
    }
    boolean unlists = ((others >>> offset) & 1) == 0;
    if (unlists && runs.hashes.find(runs.engineHash(source, offset)) > 1) {
      twins--;
    }
  }

  private int onNames(long place) {
    int run = Runs.run(place);
    int first = Runs.offset(place);
    int most = Math.min(limit, runs.length(run) - first);
    long hash = blocks.engineHash(from);
    if (!runs.isListed(run, first)) {
      return relist(run, first, most);
    }
    if (runs.engineHash(run, first) == hash) {
      return share(run, run, first, most);
    }
    int alias = aliasFor(run, first, hash);
    return runs.isListed(alias, first)
        ? share(run, alias, first, most)
        : ontoAlias(run, alias, first, most);
  }

  /** Blocks whose names and engine hashes are there. */
  private int share(int run, int source, int first, int most) {
    int count = 0;
    while (count < most
        && hasName(run, first, count)
        && runs.isListed(source, first + count)
        && runs.engineHash(source, first + count) == blocks.engineHash(from + count)
        && !(twins > 0 && isHeldElsewhere(source, first + count))) {
      count++;
    }
    return hold(run, source, first, count);
  }

  /** Blocks whose names are there, under engine hashes that nobody uses any more. */
  private int relist(int run, int first, int most) {
    int count = 0;
    while (count < most
        && hasName(run, first, count)
        && !runs.isListed(run, first + count)
        && list(run, first, count)) {
      count++;
    }
    return hold(run, run, first, count);
  }

  /** Blocks whose names are there, under engine hashes that other engines use. */
  private int ontoAlias(int run, int alias, int first, int most) {
    int count = 0;
    while (count < most
        && hasName(run, first, count)
        && runs.isListed(run, first + count)
        && runs.engineHash(run, first + count) != blocks.engineHash(from + count)
        && !runs.isListed(alias, first + count)) {
      runs.provide(alias, first + count);
      if (!list(alias, first, count)) {
        break;
      }
      count++;
    }
    if (count == 0) {
      int[] h = runs.headers.segment(run);
      RunHeaders.begin(h, RunHeaders.at(run));
      runs.trimAlias(alias);
      RunHeaders.end(h, RunHeaders.at(run));
      return 0;
    }
    return hold(run, alias, first, count);
  }

  /** The run whose engine hashes fit: one that lists the hash here, or has nothing here. */
  private int aliasFor(int run, int offset, long hash) {
    int free = 0;
    for (int alias = runs.nextAlias(run); alias != 0; alias = runs.nextAlias(alias)) {
      if (runs.isListed(alias, offset)) {
        if (runs.engineHash(alias, offset) == hash) {
          return alias;
        }
      } else if (free == 0 || isUsedBy(run, alias)) {
        free = alias;
      }
    }
    if (free != 0) {
      return free;
    }
    int[] h = runs.headers.segment(run);
    RunHeaders.begin(h, RunHeaders.at(run));
    int alias = runs.newAlias(run);
    RunHeaders.end(h, RunHeaders.at(run));
    return alias;
  }

  private boolean isUsedBy(int run, int alias) {
    for (int i = 0; i < holdings.count(run); i++) {
      if (holdings.sourceOf(run, i) == alias && engine.owns(holdings.shelfOf(run, i))) {
        return true;
      }
    }
    return false;
  }

  /** Blocks that go on where a run ends. */
  private int append(int run, int length) {
    int most = Math.min(limit, RunHeaders.MAX_BLOCKS - length);
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    RunHeaders.begin(h, at);
    int count = fill(run, length, most);
    runs.shorten(run, length + count);
    RunHeaders.end(h, at);
    return hold(run, run, length, count);
  }

  /** Blocks that go another way than all others. */
  private int branch(long place) {
    int run = runs.newChild(Runs.run(place), Runs.offset(place));
    int count = fill(run, 0, Math.min(limit, RunHeaders.MAX_BLOCKS));
    runs.shorten(run, count);
    RunHeaders.end(runs.headers.segment(run), RunHeaders.at(run));
    if (count == 0) {
      runs.headers.release(run);
      return 0;
    }
    runs.hang(run);
    return hold(run, run, 0, count);
  }

  /** Writes blocks into a run from {@code first} on, slab by slab. */
  private int fill(int run, int first, int most) {
    int count = 0;
    runs.hashes.prefetch(blocks.engineHashes(), from, from + most);
    while (count < most) {
      int block = (first + count) & 7;
      int end = Math.min(SlabColumns.BLOCKS, block + most - count);
      int slab = runs.provide(run, first + count);
      int at = SlabColumns.at(slab) + block;
      System.arraycopy(
          blocks.localHashes(), from + count, runs.columns.locals(slab), at, end - block);
      System.arraycopy(
          blocks.engineHashes(), from + count, runs.columns.hashes(slab), at, end - block);
      int listed = runs.hashes.add(slab, block, end);
      count += listed;
      if (listed < end - block) {
        if (!listTwin(run, first, count)) {
          return count;
        }
        count++;
      }
    }
    return count;
  }

  /** Lists the next block of a stretch; false when the engine holds its hash elsewhere. */
  private boolean list(int run, int first, int count) {
    int offset = first + count;
    runs.rename(run, offset, blocks.engineHash(from + count));
    return runs.hashes.add(runs.slab(run, offset), offset & 7, (offset & 7) + 1) == 1
        || listTwin(run, first, count);
  }

  /** The same for a block whose hash is listed for another block. */
  private boolean listTwin(int run, int first, int count) {
    int others = runs.hashes.find(blocks.engineHash(from + count));
    for (int i = 0; i < others; i++) {
      long other = runs.placeOf(runs.hashes.found(i));
      int offset = Runs.offset(other);
      boolean sameStretch = Runs.run(other) == run && offset >= first && offset < first + count;
      if (sameStretch || holdings.isHeld(other, engine.slot())) {
        return false;
      }
    }
    twins++;
    runs.hashes.addTwin(runs.slab(run, first + count), (first + count) & 7);
    return true;
  }

  private boolean hasName(int run, int first, int count) {
    return runs.localHash(run, first + count) == blocks.localHash(from + count);
  }

  private boolean isHeldElsewhere(int source, int offset) {
    int found = runs.hashes.find(runs.engineHash(source, offset));
    int here = runs.block(source, offset);
    for (int i = 0; i < found; i++) {
      if (runs.hashes.found(i) != here
          && holdings.isHeld(runs.placeOf(runs.hashes.found(i)), engine.slot())) {
        return true;
      }
    }
    return false;
  }

  private int hold(int run, int source, int first, int count) {
    if (count > 0) {
      long mask = (-1L >>> (Long.SIZE - count)) << first;
      long again = holdings.held(run, source, shelf.id) & mask;
      holdings.hold(shelf, run, source, mask);
      engine.more(shelf, Long.bitCount(mask & ~again));
      if (shelf.suspended != null) {
        engine.suspended().unsuspend(shelf, run, source, mask);
      }
      if (again != 0 && blocks.addsCopies() && engine.counting() == CopyCounting.PER_COPY) {
        for (; again != 0; again &= again - 1) {
          runs.copies.add(shelf.id, runs.block(source, Long.numberOfTrailingZeros(again)));
        }
      }
      end = Runs.place(run, first + count);
      last = Runs.place(source, first + count - 1);
    }
    return count;
  }
}
