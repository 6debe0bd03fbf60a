package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.RunHeaders.CHILDREN;
import static dev.warmpath.kvindex.runs.RunHeaders.SHAPE;
import static dev.warmpath.kvindex.runs.RunHeaders.SLABS;
import static dev.warmpath.kvindex.runs.RunHeaders.TOUCHED;

import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * Keeps the index within its bytes: tells whether there is room for more, and makes room.
 *
 * <p>Single writer.
 */
public final class Room {

  /*
   * A store goes in pieces. Slabs and headers are taken before a piece begins. What else it makes grow
   * (shards of tables, lists of holders, maps) cannot be refused half-way and takes its bytes from a
   * reserve, which is whole again before the next piece:
   *
   *   used + reserve ≤ bound
   *
   * Shards of tables double one at a time, so a piece takes far less than the reserve.
   *
   * Room is made by evicting cold leaf runs, which frees slabs, headers, lists and entries of tables.
   * Sparse lists of holders are given back, and when bytes are missing and enough slabs are free, a whole
   * segment of slabs is: these bytes can become those of another kind of array. Tables never shrink.
   *
   * An engine that holds far more than the others makes room among its own runs first: one that
   * announces without end must not drive out what the others hold.
   */

  /** No more blocks are stored before room is made again. */
  public static final int PIECE_BLOCKS = 128;

  private static final int SLABS_BESIDE = 8;
  private static final int HEADERS_BESIDE = 2;

  /** The reserve is this part of the bound, but not less than that. */
  private static final int RESERVE_PART = 32;

  private static final int LEAST_RESERVE_BYTES = 1 << 16;

  /** Blocks without names take at most this part of the bound. */
  private static final int ASIDE_PART = 4;

  /** More than a block without a name takes on a hundred shelves. */
  private static final int ONE_ASIDE_BYTES = 1 << 11;

  private final Runs runs;
  private final Holdings holdings;
  private final ByteBudget budget;
  private final ByteBudget asideBudget;
  private final long reserveBytes;
  private final ClockEviction clock;
  private final SlabMover slabMover;
  private final IntConsumer evict;
  private final LongSupplier fairBlocks;
  private final BooleanSupplier clearUp;
  private int promised;

  /**
   * @param evict forgets all that is held of a leaf run
   * @param fairBlocks how many blocks an engine keeps here on average
   * @param clearUp gives back what is held for nobody; false if there is no such thing
   */
  public Room(
      Runs runs,
      Holdings holdings,
      Shelves shelves,
      IntConsumer evict,
      LongSupplier fairBlocks,
      BooleanSupplier clearUp) {
    this.clearUp = clearUp;
    this.runs = runs;
    this.holdings = holdings;
    this.evict = evict;
    this.fairBlocks = fairBlocks;
    budget = runs.budget;
    asideBudget = budget.part(Math.max(1, budget.maxBytes() / ASIDE_PART));
    reserveBytes = Math.max(LEAST_RESERVE_BYTES, budget.maxBytes() / RESERVE_PART);
    clock = new ClockEviction(runs, holdings, shelves);
    slabMover = new SlabMover(runs, holdings);
  }

  /** What all blocks without names may take. */
  public ByteBudget asideBudget() {
    return asideBudget;
  }

  /** Whether so many blocks can be stored, whatever becomes of them. */
  public boolean has(int blocks) {
    promised = blocks;
    return has(blocks + SLABS_BESIDE, blocks + HEADERS_BESIDE, reserveBytes);
  }

  /** Makes room for so many blocks of an engine; false if there is nothing left to evict. */
  public boolean evictFor(int blocks, RunEngine engine) {
    while (!has(blocks)) {
      if (!freeSome(blocks, engine)) {
        return false;
      }
    }
    return true;
  }

  /** Whether so many slabs and runs can be had; evicts nothing. */
  public boolean has(int slabs, int headers) {
    return has(slabs, headers, reserveBytes);
  }

  /** Whether a block that stands unnamed can get its name, beside those that room was made for. */
  public boolean hasForName(UnnamedBlock block) {
    int blocks = promised + block.size();
    return has(blocks + SLABS_BESIDE, blocks + HEADERS_BESIDE, reserveBytes / 2);
  }

  /** Whether one more block can stand unnamed. */
  public boolean hasAside() {
    return asideBudget.remainingBytes() >= ONE_ASIDE_BYTES
        && budget.remainingBytes() >= ONE_ASIDE_BYTES;
  }

  /** Whether blocks that are there can get one more holder or copy. */
  public boolean hasSpare() {
    return budget.remainingBytes() >= reserveBytes / 2;
  }

  private boolean has(int slabs, int headers, long spareBytes) {
    return runs.columns.hasRoom(slabs, spareBytes)
        && runs.headers.hasRoom(headers, spareBytes)
        && spareBytes <= budget.remainingBytes();
  }

  /** Makes some room; false if there is nothing left to evict. */
  private boolean freeSome(int blocks, RunEngine engine) {
    if (clearUp.getAsBoolean()) {
      return true;
    }
    boolean lacksBytes = reserveBytes > budget.remainingBytes();
    if (holdings.giveBackLists() || (lacksBytes && slabMover.giveBack(blocks + SLABS_BESIDE))) {
      return true;
    }
    int run = isGreedy(engine) ? clock.victimOf(engine.slot()) : 0;
    if (run == 0) {
      run = clock.victim();
    }
    if (run != 0) {
      evict.accept(run);
    }
    return run != 0;
  }

  /** Whether the engine keeps more than one and a half times as much as one does on average. */
  private boolean isGreedy(RunEngine engine) {
    return 2 * engine.kept() > 3 * fairBlocks.getAsLong();
  }

  /**
   * Moves slabs out of a segment that has few left, so that it can be given back.
   *
   * <p>Single writer; readers whose run is touched begin again.
   */
  public static final class SlabMover {

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

  /**
   * Chooses what to evict: leaf runs that nobody stored to or asked for since the last time round.
   * A clock, whose hand takes back the mark of each run that it passes.
   *
   * <p>Single writer.
   */
  private static final class ClockEviction {

    /** A search for the runs of one engine ends after so many. */
    private static final int STEPS = 1 << 12;

    private final Runs runs;
    private final Holdings holdings;
    private final Shelves shelves;
    private int hand;
    private int ownHand;

    ClockEviction(Runs runs, Holdings holdings, Shelves shelves) {
      this.runs = runs;
      this.holdings = holdings;
      this.shelves = shelves;
    }

    /** A held leaf, or 0 when there is none at all. */
    int victim() {
      int bound = runs.headers.bound();
      for (int steps = 0; steps < 2 * bound; steps++) {
        hand = hand + 1 < bound ? hand + 1 : 1;
        boolean cold = isCold(hand);
        if (cold && isLeaf(hand)) {
          return hand;
        }
      }
      return 0;
    }

    /** A leaf that the engine in this slot holds and nobody else, or 0 when none is found soon. */
    int victimOf(int slot) {
      int bound = runs.headers.bound();
      for (int steps = Math.min(STEPS, 2 * bound); steps > 0; steps--) {
        ownHand = ownHand + 1 < bound ? ownHand + 1 : 1;
        if (isLeaf(ownHand) && isOnly(ownHand, slot) && isCold(ownHand)) {
          return ownHand;
        }
      }
      return 0;
    }

    private boolean isLeaf(int run) {
      int[] h = runs.headers.segment(run);
      int at = RunHeaders.at(run);
      return RunHeaders.kind(h[at + SHAPE]) == RunHeaders.NAMES
          && h[at + CHILDREN] == 0
          && holdings.count(run) > 0;
    }

    private boolean isOnly(int run, int slot) {
      for (int i = holdings.count(run) - 1; i >= 0; i--) {
        if (shelves.get(holdings.shelfOf(run, i)).slot != slot) {
          return false;
        }
      }
      return true;
    }

    /** Whether the run has no mark; takes it back if it has. */
    private boolean isCold(int run) {
      int[] h = runs.headers.segment(run);
      int at = RunHeaders.at(run) + TOUCHED;
      boolean cold = h[at] == 0;
      h[at] = 0;
      return cold;
    }
  }
}
