package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import dev.warmpath.kvindex.snapshot.SnapshotException;
import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The fast index: blocks that were stored together lie together, so that a query compares columns
 * and an event moves a bit mask.
 *
 * <p>Never takes more than {@link IndexLimits#maxBytes}: when there is no room, ends of prompts
 * that nobody asked for lately are forgotten, which under-credits and is counted by {@link
 * #evictedBlocks}.
 *
 * <p>A write that throws may have spoilt what engines share: all later ones, and snapshots, throw
 * {@link IllegalStateException}. Only a slot without an engine is refused before anything is done.
 *
 * <p>Single writer, many readers. Readers never wait: a query that the writer disturbs begins
 * again, and after {@value #MAX_ATTEMPTS} times credits nobody, which {@link #unansweredQueries}
 * counts.
 */
public final class RunKvIndex implements KvIndex {

  /*
   * docs/kv-index.md draws the layout. In short:
   *
   *   root ─▶ run ─▶ run          a run: up to 64 blocks in slabs of 8, a header of 16 ints
   *            └──▶ run           children hang at any offset, found in one table
   *
   *   run ─▶ holders: (shelf, 64-bit mask) …        who holds which of its blocks
   *   engine hash ─▶ slab ─▶ run                    what a removal or a parent means
   *
   * I1  a name (the local hashes on a path) exists once
   * I2  a shelf's bit is set if and only if the engine holds the block there
   * I3  a block's engine hash is in the hash table while any shelf's bit for it is set
   * I4  a run exists while a bit of it is set or a child hangs on it
   * I5  an engine holds an engine hash at one place of the tree, or unnamed
   * I6  what is suspended has a name, and is not held on the same shelf too
   */

  static final int MAX_ATTEMPTS = 1000;

  private final IndexLimits limits;
  private final long seed;
  private final Leftovers leftovers;
  final List<@Nullable RunEngine> engines = new ArrayList<>();

  // Made anew when a snapshot is refused half-way; never once the index has engines.
  private volatile ByteBudget budget;
  Runs runs;
  Holdings holdings;
  Shelves shelves;
  private Room room;
  private RunEngine.Core core;
  private volatile PathReader reader;
  private final LongAdder evictedBlocks = new LongAdder();
  private final LongAdder readRetries = new LongAdder();
  private final LongAdder unansweredQueries = new LongAdder();
  private boolean writing;
  private long fairBlocks;
  private int fairFor;

  /** An index whose hash tables are laid out at random, so that nobody can aim at one place. */
  public RunKvIndex(IndexLimits limits) {
    this(limits, new SecureRandom().nextLong());
  }

  /**
   * @param seed of the hash tables' layout
   */
  public RunKvIndex(IndexLimits limits, long seed) {
    this(limits, seed, new Leftovers());
  }

  RunKvIndex(IndexLimits limits, long seed, Leftovers leftovers) {
    this.leftovers = leftovers;
    this.limits = limits;
    this.seed = seed;
    makeEmpty();
  }

  private void makeEmpty() {
    engines.clear();
    budget = new ByteBudget(limits.maxBytes());
    runs = new Runs(budget, seed);
    shelves = new Shelves(budget);
    holdings = new Holdings(runs, shelves);
    room = new Room(runs, holdings, shelves, this::evict, this::fairBlocks, this::clearUp);
    core =
        new RunEngine.Core(runs, holdings, new Placement(runs, holdings), shelves, room, leftovers);
    reader = new PathReader(runs);
    writing = false;
  }

  /**
   * Writes all that is kept, as it is now; to be called by the writer.
   *
   * @throws IllegalStateException if a write was left half-done
   */
  public void writeTo(SnapshotOutput out) {
    refuseHalfDone();
    leftovers.all(core);
    EngineSections fleet = new EngineSections(core, limits.maxOrphansPerEngine(), engines);
    fleet.write(out);
    new TreeSections(core, fleet).write(out);
    fleet.writeAside(out);
  }

  /**
   * Becomes the index that was written, with which the stream must end; to be called by the writer
   * of an index that never had an engine. Nobody is credited before all of it was read; if it
   * throws, the index is as empty as before.
   *
   * <p>It has forgotten nothing but how often it evicted and was disturbed. If it does not fit into
   * the limits, what was not asked for lately is left out and counted by {@link #evictedBlocks}.
   *
   * @param slots must have an engine each
   * @throws SnapshotException if the stream does not give what {@link #writeTo} wrote
   */
  public void readFrom(SnapshotInput in, Collection<Integer> slots) throws IOException {
    if (!engines.isEmpty()) {
      throw new IllegalStateException("slots=" + engines.size());
    }
    begin();
    boolean isRead = false;
    try {
      EngineSections fleet = new EngineSections(core, limits.maxOrphansPerEngine(), engines);
      fleet.read(in);
      long omitted = new TreeSections(core, fleet).read(in) + fleet.readAside(in);
      for (int slot : slots) {
        if (slot >= engines.size() || engines.get(slot) == null) {
          throw in.damaged("slot=" + slot + " has no engine");
        }
      }
      in.finish();
      evictedBlocks.add(omitted);
      isRead = true;
    } finally {
      if (!isRead) {
        makeEmpty();
      }
    }
    publishFleet();
    end();
  }

  /** Removes all engines but those in these slots. */
  public void keepOnly(Collection<Integer> slots) {
    for (int slot = 0; slot < engines.size(); slot++) {
      if (engines.get(slot) != null && !slots.contains(slot)) {
        removeEngine(slot);
      }
    }
  }

  @Override
  public int addEngine(CopyCounting counting) {
    begin();
    int slot = engines.indexOf(null);
    if (slot < 0) {
      slot = engines.size();
      engines.add(null);
    }
    engines.set(slot, new RunEngine(slot, counting, limits.maxOrphansPerEngine(), core));
    publishFleet();
    end();
    return slot;
  }

  @Override
  public void removeEngine(int slot) {
    RunEngine engine = begin(slot);
    engine.clear();
    engine.closeShelves();
    engines.set(slot, null);
    publishFleet();
    end();
  }

  @Override
  public void layout(int slot, CacheLayout layout) {
    begin(slot).layout(layout);
    publishFleet();
    end();
  }

  @Override
  public void stored(int slot, StoredBlocks blocks) {
    store(begin(slot), blocks);
    end();
  }

  private void store(RunEngine engine, StoredBlocks blocks) {
    Shelf shelf = engine.shelf(blocks.tier(), blocks.group());
    if (shelf == null) {
      shelf = engine.openShelf(blocks.tier(), blocks.group());
      publishFleet();
    }
    engine.confirm(shelf, blocks);
    for (int from = 0; from < blocks.count(); ) {
      int piece = Math.min(blocks.count() - from, Room.PIECE_BLOCKS);
      if (!room.has(piece)) {
        engine.keepParent(blocks, from);
        if (!room.evictFor(piece, engine)) {
          // What follows hangs on these.
          evictedBlocks.add(blocks.count() - from);
          return;
        }
      }
      int refused = engine.stored(shelf, blocks, from, from + piece);
      if (refused > 0) {
        evictedBlocks.add(refused);
      }
      from += piece;
    }
  }

  @Override
  public void removed(int slot, RemovedBlocks blocks) {
    RunEngine engine = begin(slot);
    Shelf shelf = engine.shelf(blocks.tier(), blocks.group());
    if (shelf == null) {
      engine.unknownRemovals(blocks.count());
    } else {
      engine.removed(shelf, blocks);
    }
    end();
  }

  @Override
  public void cleared(int slot) {
    if (begin(slot).clear()) {
      publishFleet();
    }
    end();
  }

  @Override
  public long suspended(int slot) {
    long suspended = begin(slot).suspend();
    publishFleet();
    end();
    return suspended;
  }

  @Override
  public long confirmed(int slot, StorageTier tier, int group, BlockChain prompt, int blocks) {
    RunEngine engine = begin(slot);
    Shelf shelf = engine.shelf(tier, group);
    long confirmed = shelf == null ? 0 : engine.confirmed(shelf, prompt, blocks);
    end();
    return confirmed;
  }

  @Override
  public long computed(int slot, StoredBlocks names) {
    RunEngine engine = begin(slot);
    Shelf shelf = engine.shelf(names.tier(), names.group());
    if (shelf == null || shelf.suspended == null) {
      shelf = engine.openSuspended(names.tier(), names.group());
      publishFleet();
    }
    long before = engine.stats().suspendedBlocks();
    for (int from = 0; from < names.count(); ) {
      int to = Math.min(names.count(), from + Room.PIECE_BLOCKS);
      if (!engine.computed(shelf, names, from, to)) {
        break;
      }
      from = to;
    }
    end();
    return engine.stats().suspendedBlocks() - before;
  }

  @Override
  public int joined(int slot, int namer, StorageTier tier, int group, long[] hashes, int count) {
    RunEngine names = engine(namer);
    RunEngine engine = begin(slot);
    Shelf shelf = engine.shelf(tier, group);
    if (shelf == null) {
      shelf = engine.openShelf(tier, group);
      publishFleet();
    }
    int nameless = 0;
    for (int from = 0; from < count; ) {
      int to = Math.min(count, from + Room.PIECE_BLOCKS);
      if (!room.has(to - from) && !room.evictFor(to - from, engine)) {
        System.arraycopy(hashes, from, hashes, nameless, count - from);
        nameless += count - from;
        break;
      }
      for (; from < to; from++) {
        if (!engine.join(shelf, names, hashes[from])) {
          hashes[nameless++] = hashes[from];
        }
      }
    }
    end();
    return nameless;
  }

  @Override
  public void match(BlockChain prompt, PrefixMatches matches) {
    PathReader reader = this.reader;
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (reader.read(prompt, matches)) {
        return;
      }
      readRetries.increment();
      Thread.onSpinWait();
    }
    unansweredQueries.increment();
    matches.begin(fleet().slots());
  }

  @Override
  public long[] soleBlocks() {
    return reader.soleBlocks();
  }

  @Override
  public EngineStats stats(int slot) {
    return fleet().engine(slot).stats();
  }

  @Override
  public long blocksOnGpu(int slot) {
    return fleet().blocksOnGpu(slot);
  }

  @Override
  public IndexTotals totals() {
    ByteBudget budget = this.budget;
    return new IndexTotals(
        budget.usedBytes(),
        budget.maxBytes(),
        evictedBlocks.sum(),
        readRetries.sum(),
        unansweredQueries.sum());
  }

  /** Bytes that all arrays of the index take. */
  public long bytes() {
    return budget.usedBytes();
  }

  /** Blocks that were forgotten, or never noted, for lack of room. */
  public long evictedBlocks() {
    return evictedBlocks.sum();
  }

  /** Walks of queries that the writer disturbed. */
  public long readRetries() {
    return readRetries.sum();
  }

  /** Queries that were disturbed so often that they credited nobody. */
  public long unansweredQueries() {
    return unansweredQueries.sum();
  }

  IndexLimits limits() {
    return limits;
  }

  ReadView fleet() {
    return reader.fleet();
  }

  private void publishFleet() {
    reader.fleet(ReadView.of(engines, shelves.bound()));
  }

  /** Makes room of what nobody holds any more; false if there is nothing of that kind. */
  private boolean clearUp() {
    boolean any = !leftovers.isEmpty();
    leftovers.some(core);
    return any;
  }

  private void evict(int run) {
    long left = 0;
    while (holdings.count(run) > 0 && runs.kind(run) == RunHeaders.NAMES) {
      Shelf shelf = shelves.get(holdings.shelfOf(run, 0));
      if (shelf.slot == Shelves.NOBODY) {
        core.placement().release(shelf, run, 0, holdings.mask(run, 0));
      } else {
        left += engine(shelf.slot).forget(shelf, run, 0);
      }
    }
    evictedBlocks.add(left);
  }

  /**
   * What an engine keeps on average. Asked for each run that is evicted, so all are added up only
   * once for as many runs as there are engines; meanwhile an average engine loses a run at most.
   */
  private long fairBlocks() {
    if (--fairFor > 0) {
      return fairBlocks;
    }
    long kept = 0;
    int count = 0;
    for (RunEngine engine : engines) {
      if (engine != null) {
        kept += engine.kept();
        count++;
      }
    }
    fairFor = count;
    fairBlocks = kept / Math.max(1, count);
    return fairBlocks;
  }

  private RunEngine begin(int slot) {
    RunEngine engine = engine(slot);
    begin();
    return engine;
  }

  private void begin() {
    refuseHalfDone();
    writing = true;
  }

  private void end() {
    leftovers.some(core);
    writing = false;
  }

  /** What engines share may be spoilt: no engine can be forgotten on its own any more. */
  private void refuseHalfDone() {
    if (writing) {
      throw new IllegalStateException("a write was left half-done, so the index may be wrong");
    }
  }

  private RunEngine engine(int slot) {
    RunEngine engine = slot >= 0 && slot < engines.size() ? engines.get(slot) : null;
    if (engine == null) {
      throw new IllegalArgumentException("slot=" + slot + " has no engine");
    }
    return engine;
  }
}
