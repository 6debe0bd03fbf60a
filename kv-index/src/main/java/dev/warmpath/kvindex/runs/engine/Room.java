package dev.warmpath.kvindex.runs.engine;

import dev.warmpath.kvindex.runs.memory.ByteBudget;
import dev.warmpath.kvindex.runs.tree.ColdRuns;
import dev.warmpath.kvindex.runs.tree.Holdings;
import dev.warmpath.kvindex.runs.tree.Runs;
import dev.warmpath.kvindex.runs.tree.Shelves;
import dev.warmpath.kvindex.runs.tree.Shelves.Shelf;
import dev.warmpath.kvindex.runs.tree.SlabMover;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * Keeps the index within its bytes: says whether there is room for more, and makes room.
 *
 * <p>Single writer.
 */
public final class Room {

  /*
   * Slabs and headers are had before a store begins. What else may grow while it lasts (tables, lists,
   * maps) cannot be refused half-way, so as many bytes as it may take at most must be left:
   *
   *   used + growth ≤ bound
   *
   * The growth that n more blocks may cause is small, since few tables are that full. Its greater part
   * is worked out for many blocks at once and stands until they are used up or something grew; for
   * more of them while there is plenty of room.
   *
   * Room is made by forgetting cold leaf runs, which frees slabs, headers, lists and entries of tables.
   * When it is bytes that are missing, tables that have become too large are made smaller, and once
   * enough slabs are free, a whole segment of them is given back: nearly all bytes can become those of
   * another kind of array.
   *
   * An engine that holds far more than the others makes room among its own runs first: one that
   * announces without end must not drive out what the others hold.
   */

  /** No more blocks are stored before it is asked again. */
  public static final int PIECE_BLOCKS = 512;

  /** Growth is worked out for so many blocks while there is plenty of room. */
  private static final int PLENTY_BLOCKS = 32 * PIECE_BLOCKS;

  private static final int SLABS_BESIDE = 8;
  private static final int HEADERS_BESIDE = 2;

  /** A piece is made smaller until its growth is at most this part of the bound. */
  private static final int GROWTH_PART = 16;

  /** Blocks without names take at most this part of the bound. */
  private static final int ASIDE_PART = 4;

  private final Runs runs;
  private final Holdings holdings;
  private final Shelves shelves;
  private final ByteBudget budget;
  private final ByteBudget asideBudget;
  private final ColdRuns coldRuns;
  private final SlabMover slabMover;
  private final IntConsumer forget;
  private final LongSupplier fairBlocks;
  private int promised;
  private int granted;
  private long grantedAtBytes;
  private long growthBytes;

  /**
   * @param forget forgets all that is held of a leaf run
   * @param fairBlocks how many blocks an engine keeps here on average
   */
  public Room(
      Runs runs, Holdings holdings, Shelves shelves, IntConsumer forget, LongSupplier fairBlocks) {
    this.runs = runs;
    this.holdings = holdings;
    this.shelves = shelves;
    this.forget = forget;
    this.fairBlocks = fairBlocks;
    budget = runs.budget;
    asideBudget = budget.part(Math.max(1, budget.maxBytes() / ASIDE_PART));
    coldRuns = new ColdRuns(runs, holdings, shelves);
    slabMover = new SlabMover(runs, holdings);
  }

  /** What all blocks without names may take. */
  public ByteBudget asideBudget() {
    return asideBudget;
  }

  /** Whether so many blocks can be stored, whatever becomes of them. */
  public boolean has(int blocks, RunEngine engine, Shelf shelf) {
    promised = blocks;
    if (blocks > granted || budget.used() != grantedAtBytes) {
      grant(PLENTY_BLOCKS, true);
      if (!hasPlenty()) {
        grant(Math.max(blocks, PIECE_BLOCKS), false);
      }
    }
    return fits(blocks, growthBytes(blocks, engine, shelf));
  }

  /** Makes room for some of these blocks, whatever becomes of them; returns for how many. */
  public int make(int blocks, RunEngine engine, Shelf shelf) {
    promised = blocks;
    grant(promised, false);
    while (promised > 1 && isTooMuch(promised, growthBytes(promised, engine, shelf))) {
      promised = (promised + 7) / 8;
      grant(promised, false);
    }
    while (!fits(promised, growthBytes(promised, engine, shelf))) {
      if (!relieve(engine, promised, growthBytes(promised, engine, shelf))) {
        return 0;
      }
      grant(promised, false);
    }
    return promised;
  }

  /** Whether a block that stands unnamed can get its name, beside those that room was made for. */
  public boolean hasForName(UnnamedBlock block) {
    int blocks = promised + block.size();
    long local = 0;
    for (int i = 0; i < block.size(); i++) {
      local += shelves.get(block.shelf(i)).runs.growthBytes(blocks);
    }
    if (blocks > granted || budget.used() != grantedAtBytes) {
      grant(blocks, false);
    }
    return fits(blocks, growthBytes + local);
  }

  /** Whether one more block can stand unnamed. */
  public boolean hasAside(RunEngine engine) {
    long growth = engine.unnamed().growthBytes(1, engine.shelves().size());
    return growth <= asideBudget.left() && growth <= budget.left();
  }

  /** Whether so many slabs and runs can be had beside {@code growth} bytes; forgets nothing. */
  public boolean has(int slabs, int headers, long growth) {
    return runs.columns.hasRoom(slabs, growth)
        && runs.headers.hasRoom(headers, growth)
        && growth <= budget.left();
  }

  /** Whether so many bytes are left. */
  public boolean hasBytes(long bytes) {
    return bytes <= budget.left();
  }

  /** What was granted stands no more: something was taken that no store asked for. */
  public void forgetGrant() {
    granted = 0;
  }

  /** Whether what was granted will not be what a store fails for. */
  private boolean hasPlenty() {
    return 2 * growthBytes < budget.left();
  }

  private boolean isTooMuch(int blocks, long growth) {
    return growth > budget.maxBytes() / GROWTH_PART
        || GROWTH_PART * (long) blocks > Math.max(runs.columns.capacity(), GROWTH_PART);
  }

  /** Works out what so many more blocks may take, wherever they go. */
  private void grant(int blocks, boolean roughly) {
    granted = blocks;
    grantedAtBytes = budget.used();
    growthBytes =
        runs.hashes.growthBytes(blocks, roughly)
            + runs.children.growthBytes(blocks, roughly)
            + runs.lists.growthBytes(blocks)
            + runs.copies.growthBytes(blocks)
            + runs.aliasGrowthBytes(blocks);
  }

  /** The same with what they may take of one engine's own. */
  private long growthBytes(int blocks, RunEngine engine, Shelf shelf) {
    return growthBytes
        + shelf.runs.growthBytes(blocks)
        + engine.unnamed().growthBytes(blocks, engine.shelves().size());
  }

  private boolean fits(int blocks, long growth) {
    boolean fits =
        runs.columns.hasRoom(blocks + SLABS_BESIDE, growth)
            && runs.headers.hasRoom(blocks + HEADERS_BESIDE, growth)
            && growth <= budget.left();
    if (fits) {
      granted -= blocks;
    }
    return fits;
  }

  /** Makes some room; false if there is nothing left to forget. */
  private boolean relieve(RunEngine engine, int blocks, long growth) {
    if (growth > budget.left()) {
      boolean given =
          holdings.giveBackLists()
              || runs.hashes.trim()
              || runs.children.trim()
              || slabMover.giveBack(blocks + SLABS_BESIDE);
      if (given) {
        return true;
      }
    }
    int run = isGreedy(engine) ? coldRuns.nextOf(engine.slot()) : 0;
    if (run == 0) {
      run = coldRuns.next();
    }
    if (run != 0) {
      forget.accept(run);
    }
    return run != 0;
  }

  /** Whether the engine keeps more than one and a half times as much as one does on average. */
  private boolean isGreedy(RunEngine engine) {
    return 2 * engine.kept() > 3 * fairBlocks.getAsLong();
  }
}
