package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.Runs.NOWHERE;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One engine: its shelves, its blocks without names, and what its events mean.
 *
 * <p>A block that the engine holds is either in the tree, under one name, or unnamed. Single
 * writer.
 */
final class RunEngine {

  private final int slot;
  private final CopyCounting counting;
  private final Core core;
  private final UnnamedBlocks unnamed;
  private final Claims claims;
  private final SuspendedBlocks suspended;
  private final ComputedNames computedNames;
  private final List<Shelf> shelves = new ArrayList<>();
  private CacheLayout layout = new CacheLayout(List.of(), 0, 0);
  private long lastStored = NOWHERE;
  private long nextRemoved = NOWHERE;
  private long held;
  private long unknownRemovals;

  /** What all engines of an index share. */
  public record Core(
      Runs runs,
      Holdings holdings,
      Placement placement,
      Shelves shelves,
      Room room,
      Leftovers leftovers) {}

  public RunEngine(int slot, CopyCounting counting, int maxOrphans, Core core) {
    this.slot = slot;
    this.counting = counting;
    this.core = core;
    unnamed = new UnnamedBlocks(core.room().asideBudget());
    claims = new Claims(this, core, unnamed, maxOrphans);
    suspended = new SuspendedBlocks(this, core);
    computedNames = new ComputedNames(this, core, unnamed, claims);
  }

  public int slot() {
    return slot;
  }

  public CopyCounting counting() {
    return counting;
  }

  public CacheLayout layout() {
    return layout;
  }

  public void layout(CacheLayout layout) {
    this.layout = layout;
  }

  public List<Shelf> shelves() {
    return shelves;
  }

  public boolean owns(int shelf) {
    return core.shelves().get(shelf).slot == slot;
  }

  /** The shelf for (tier, group), or null when nothing was ever stored there. */
  public @Nullable Shelf shelf(StorageTier tier, int group) {
    for (int i = 0; i < shelves.size(); i++) {
      Shelf shelf = shelves.get(i);
      if (shelf.tier == tier && shelf.group == group) {
        return shelf;
      }
    }
    return null;
  }

  public Shelf openShelf(StorageTier tier, int group) {
    Shelf shelf = core.shelves().open(slot, tier, group);
    shelves.add(shelf);
    return shelf;
  }

  /** The shelf for (tier, group), with a suspended shelf of its own. */
  public Shelf openSuspended(StorageTier tier, int group) {
    Shelf known = shelf(tier, group);
    Shelf shelf = known == null ? openShelf(tier, group) : known;
    shelf.suspended = openShelf(tier, ~group);
    return shelf;
  }

  /** Makes a shelf the suspended shelf of a new one. */
  void suspend(Shelf shelf) {
    Shelf earlier = shelf.suspended;
    shelves.add(core.shelves().suspend(shelf));
    Shelf suspended = core.shelves().get(shelf.id);
    shelves.set(shelves.indexOf(shelf), suspended);
    if (earlier != null) {
      core.leftovers().merge(this, earlier, suspended);
    }
  }

  /** Opens what a snapshot had: each suspended shelf beside the one that it belongs to. */
  public void pairShelves() {
    for (Shelf shelf : List.copyOf(shelves)) {
      if (shelf.isSuspended()) {
        Shelf sure = shelf(shelf.tier, ~shelf.group);
        (sure == null ? openShelf(shelf.tier, ~shelf.group) : sure).suspended = shelf;
      }
    }
  }

  /** Gives all shelves back; they must be empty. */
  public void closeShelves() {
    core.leftovers().mergeNow(this, core);
    shelves.forEach(core.shelves()::close);
    shelves.clear();
  }

  public void heldMore(int blocks) {
    held += blocks;
  }

  /** A shelf has so many blocks more, held or suspended. */
  public void more(Shelf shelf, int blocks) {
    if (shelf.isSuspended()) {
      suspended.more(blocks);
    } else {
      held += blocks;
    }
  }

  /**
   * Suspends every block that has a name and forgets the others; returns how many blocks it
   * suspends.
   */
  public long suspend() {
    unnamed.clear();
    return suspended.suspend();
  }

  /** The engine was seen to reuse the first blocks of a prompt; returns how many were suspended. */
  public long confirmed(Shelf shelf, BlockChain prompt, int count) {
    return suspended.confirm(shelf, prompt, count);
  }

  /** Finds out what a store confirms of the blocks before it. */
  public void confirm(Shelf shelf, StoredBlocks blocks) {
    if (suspended.blocks() > 0 && blocks.confirms() && layout.isFullAttention(shelf.group)) {
      suspended.confirmBefore(shelf, behind(blocks.parent()));
    }
  }

  /** Names blocks {@code from … to − 1} without holding them; false if not all could be named. */
  public boolean computed(Shelf shelf, StoredBlocks names, int from, int to) {
    return computedNames.compute(shelf, names, from, to);
  }

  SuspendedBlocks suspended() {
    return suspended;
  }

  /** Sees to it that what the next store hangs on is not the next to be forgotten. */
  public void keepParent(StoredBlocks blocks, int from) {
    long place = blocks.named() && (from > 0 || !blocks.atRoot()) ? behind(blocks, from) : NOWHERE;
    if (place != NOWHERE) {
      core.runs().touch(Runs.run(place));
    }
  }

  /**
   * Stores blocks {@code from … to − 1} of an event, for which there is room; returns how many
   * could not stand unnamed.
   */
  public int stored(Shelf shelf, StoredBlocks blocks, int from, int to) {
    if (!blocks.named()) {
      return storeUnnamed(shelf, blocks, from, to);
    }
    int refused = 0;
    long place = behind(blocks, from);
    for (int i = from; i < to; ) {
      int plain = plain(blocks, i, to);
      int put =
          place == NOWHERE || plain == 0
              ? 0
              : core.placement().of(this, shelf).put(place, blocks, i, plain);
      if (put > 0) {
        place = core.placement().end();
        lastStored = core.placement().last();
        claims.adopt(blocks, i, i + put);
      } else {
        put = 1;
        refused += claims.store(shelf, blocks, i) ? 0 : 1;
        place = behind(blocks.engineHash(i));
      }
      i += put;
    }
    return refused;
  }

  public void removed(Shelf shelf, RemovedBlocks blocks) {
    for (int i = 0; i < blocks.count(); ) {
      long hash = blocks.engineHash(i);
      long at = mayBeAt(nextRemoved, hash) ? nextRemoved : find(hash);
      if (at == NOWHERE) {
        removeAside(shelf, hash);
        i++;
        continue;
      }
      int removed = remove(shelf, at, blocks, i);
      if (removed == 0 && (at = find(hash)) != NOWHERE) {
        removed = remove(shelf, at, blocks, i);
      }
      if (removed == 0) {
        removeAside(shelf, hash);
      }
      i += Math.max(1, removed);
    }
  }

  /** A removal from a shelf on which nothing was ever stored. */
  public void unknownRemovals(int blocks) {
    unknownRemovals += blocks;
  }

  /**
   * Forgets all holdings; the layout and the counters stay. Returns whether the shelves went too.
   */
  public boolean clear() {
    boolean many = !core.leftovers().areFew(shelves.stream().mapToInt(s -> s.runs.size()).sum());
    if (many) {
      core.leftovers().abandon(this, core);
      shelves.clear();
      held = 0;
      suspended.more(-suspended.blocks());
    } else {
      shelves.forEach(this::empty);
    }
    unnamed.clear();
    lastStored = NOWHERE;
    nextRemoved = NOWHERE;
    return many;
  }

  private void empty(Shelf shelf) {
    while (shelf.runs.size() > 0) {
      int run = shelf.runs.get(shelf.runs.size() - 1);
      forget(shelf, run, core.holdings().lastOf(shelf));
    }
  }

  /** All blocks of a suspended shelf have moved to the one before it. */
  void merged(Shelf from) {
    shelves.remove(from);
    for (Shelf shelf : shelves) {
      if (shelf.suspended == from) {
        shelf.suspended = from.suspended;
      }
    }
  }

  /** Forgets what the shelf has of a run, by one entry; returns how many held blocks that was. */
  public int forget(Shelf shelf, int run, int entry) {
    int source = core.holdings().sourceOf(run, entry);
    long mask = core.holdings().mask(run, entry);
    for (long left = core.runs().copies.isEmpty() ? 0 : mask; left != 0; left &= left - 1) {
      int offset = Long.numberOfTrailingZeros(left);
      core.runs().copies.forget(shelf.id, core.runs().block(source, offset));
    }
    core.placement().release(shelf, run, entry, mask);
    more(shelf, -Long.bitCount(mask));
    return shelf.isSuspended() ? 0 : Long.bitCount(mask);
  }

  /** Goes on counting where another index stopped. */
  public void counters(long orphansDropped, long unknownRemovals, long contradictions) {
    this.unknownRemovals = unknownRemovals;
    claims.counters(orphansDropped, contradictions);
  }

  public EngineStats stats() {
    return new EngineStats(
        held + unnamed.held(),
        held,
        unnamed.orphans(),
        claims.orphansDropped(),
        unknownRemovals,
        claims.contradictions(),
        suspended.blocks());
  }

  public long held() {
    return held;
  }

  /** Held blocks, with and without name. */
  public long allHeld() {
    return held + unnamed.held();
  }

  /** How many blocks are kept for the engine, held and suspended. */
  public long kept() {
    return held + unnamed.held() + suspended.blocks();
  }

  /** Gives up the orphan that waited longest, if there are too many. */
  public void dropOldestOrphan() {
    claims.dropOldestOrphan();
  }

  public UnnamedBlocks unnamed() {
    return unnamed;
  }

  /** How many blocks from {@code from} on are named. */
  private int plain(StoredBlocks blocks, int from, int to) {
    int end = from;
    if (unnamed.isEmpty()) {
      end = to;
    }
    while (end < to && unnamed.get(blocks.engineHash(end)) == null) {
      end++;
    }
    return end - from;
  }

  long behind(StoredBlocks blocks, int index) {
    if (index > 0) {
      return behind(blocks.engineHash(index - 1));
    }
    return blocks.atRoot() ? core.runs().root(blocks.parent()) : behind(blocks.parent());
  }

  /** The place behind a block that the engine holds under a name. */
  long behind(long engineHash) {
    long at = isAt(lastStored, engineHash) ? lastStored : find(engineHash);
    return at == NOWHERE ? NOWHERE : nameOf(at) + 1;
  }

  /** The place of a block's name, given the place of its engine hash. */
  long nameOf(long at) {
    return Runs.place(core.runs().names(Runs.run(at)), Runs.offset(at));
  }

  private boolean isAt(long place, long engineHash) {
    if (place == NOWHERE) {
      return false;
    }
    int run = Runs.run(place);
    int offset = Runs.offset(place);
    return core.runs().isListed(run, offset)
        && core.runs().engineHash(run, offset) == engineHash
        && core.holdings().isHeld(place, slot);
  }

  /** Whether the hash stands there, listed or left over. */
  private boolean mayBeAt(long place, long engineHash) {
    if (place == NOWHERE) {
      return false;
    }
    int slab = core.runs().slab(Runs.run(place), Runs.offset(place));
    return slab != 0
        && core.runs().columns.hashes(slab)[SlabColumns.at(slab) + (Runs.offset(place) & 7)]
            == engineHash;
  }

  /** Where the engine holds this hash, or NOWHERE. */
  public long find(long engineHash) {
    Runs runs = core.runs();
    int found = runs.hashes.find(engineHash);
    for (int i = 0; i < found; i++) {
      long place = runs.placeOf(runs.hashes.found(i));
      if (core.holdings().isHeld(place, slot)) {
        return place;
      }
    }
    return NOWHERE;
  }

  private int storeUnnamed(Shelf shelf, StoredBlocks blocks, int from, int to) {
    int refused = 0;
    boolean addsCopies = blocks.addsCopies();
    for (int i = from; i < to; i++) {
      long hash = blocks.engineHash(i);
      UnnamedBlock block = unnamed.get(hash);
      long at = block == null ? find(hash) : NOWHERE;
      if (at != NOWHERE) {
        hold(shelf, at, addsCopies);
      } else if (block != null || core.room().hasAside()) {
        claims.hold(block == null ? unnamed.add(hash) : block, shelf, addsCopies);
      } else {
        refused++;
      }
    }
    return refused;
  }

  /** Holds a block under the name that it or another engine has for the hash; false without one. */
  public boolean join(Shelf shelf, RunEngine namer, long hash) {
    if (unnamed.get(hash) != null) {
      return false;
    }
    long own = find(hash);
    long at = own == NOWHERE ? namer.find(hash) : own;
    if (at == NOWHERE) {
      return false;
    }
    hold(shelf, at, false);
    if (own == NOWHERE) {
      claims.resolveOrphansOf(hash);
    }
    return true;
  }

  /** One more copy of a block that has its name. */
  void hold(Shelf shelf, long at, boolean addsCopies) {
    int source = Runs.run(at);
    int run = core.runs().names(source);
    long bit = 1L << Runs.offset(at);
    if ((core.holdings().held(run, source, shelf.id) & bit) == 0) {
      core.holdings().hold(shelf, run, source, bit);
      held++;
      suspended.unsuspend(shelf, run, source, bit);
    } else if (addsCopies && counting == CopyCounting.PER_COPY) {
      core.runs().copies.add(shelf.id, core.runs().block(source, Runs.offset(at)));
    }
  }

  private void removeAside(Shelf shelf, long hash) {
    UnnamedBlock block = unnamed.get(hash);
    if (block == null || !unnamed.take(block, shelf.id)) {
      unknownRemovals++;
    }
  }

  /**
   * Removes the block at {@code at} and those before it that the event names next, whether they are
   * held or suspended; returns how many, 0 if the first one is neither there.
   */
  private int remove(Shelf shelf, long at, RemovedBlocks blocks, int index) {
    int removed = 0;
    for (Shelf next = shelf; next != null && removed == 0; next = next.suspended) {
      removed = removeFrom(next, at, blocks, index);
    }
    return removed;
  }

  private int removeFrom(Shelf shelf, long at, RemovedBlocks blocks, int index) {
    Runs runs = core.runs();
    int source = Runs.run(at);
    int offset = Runs.offset(at);
    int run = runs.names(source);
    int entry = core.holdings().find(run, source, shelf.id);
    long heldHere = entry < 0 ? 0 : core.holdings().mask(run, entry);
    if (((heldHere >>> offset) & 1) == 0) {
      return 0;
    }
    int first = offset;
    int next = index + 1;
    while (first > 0
        && next < blocks.count()
        && ((heldHere >>> (first - 1)) & 1) != 0
        && runs.engineHash(source, first - 1) == blocks.engineHash(next)) {
      first--;
      next++;
    }
    nextRemoved = first > 0 ? Runs.place(source, first - 1) : runs.before(run);
    long mask = spared(shelf, source, (-1L >>> (63 - offset)) & (-1L << first));
    if (mask != 0) {
      core.placement().release(shelf, run, entry, mask);
      more(shelf, -Long.bitCount(mask));
    }
    return next - index;
  }

  /** Takes one copy of each block away; the blocks of which that was the last one. */
  private long spared(Shelf shelf, int source, long mask) {
    long last = mask;
    for (long left = core.runs().copies.isEmpty() ? 0 : mask; left != 0; left &= left - 1) {
      int offset = Long.numberOfTrailingZeros(left);
      if (core.runs().copies.take(shelf.id, core.runs().block(source, offset))) {
        last &= ~(1L << offset);
      }
    }
    return last;
  }
}
