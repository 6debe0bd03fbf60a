package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.Runs.NOWHERE;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.runs.RunEngine.Core;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import dev.warmpath.kvindex.runs.UnnamedBlock.Naming;
import java.util.ArrayList;
import java.util.List;

/**
 * What an engine's stores claim about blocks that cannot just be put behind others: they wait, get
 * their names, or lose them.
 *
 * <p>Single writer.
 */
final class Claims {

  private final RunEngine engine;
  private final Core core;
  private final UnnamedBlocks unnamed;
  private final int maxOrphans;
  private final StoredBlocks one = new StoredBlocks();
  private long orphansDropped;
  private long contradictions;

  Claims(RunEngine engine, Core core, UnnamedBlocks unnamed, int maxOrphans) {
    this.engine = engine;
    this.core = core;
    this.unnamed = unnamed;
    this.maxOrphans = maxOrphans;
  }

  /** Orphans given up. */
  long orphansDropped() {
    return orphansDropped;
  }

  /** Blocks left without a name because stores disagreed. */
  long contradictions() {
    return contradictions;
  }

  /** Goes on counting where another index stopped. */
  void counters(long orphansDropped, long contradictions) {
    this.orphansDropped = orphansDropped;
    this.contradictions = contradictions;
  }

  /** Stores a block that cannot just be put; false if it cannot stand unnamed. */
  boolean store(Shelf shelf, StoredBlocks blocks, int index) {
    long hash = blocks.engineHash(index);
    long local = blocks.localHash(index);
    boolean atRoot = index == 0 && blocks.atRoot();
    long parent = index == 0 ? blocks.parent() : blocks.engineHash(index - 1);
    UnnamedBlock block = unnamed.get(hash);
    if (block != null) {
      hold(block, shelf, blocks.addsCopies());
      claimed(block, atRoot, parent, local);
      return true;
    }
    long at = engine.find(hash);
    if (at == NOWHERE && !core.room().hasAside()) {
      return false;
    }
    if (at == NOWHERE) {
      block = unnamed.add(hash);
      hold(block, shelf, true);
      claimed(block, atRoot, parent, local);
    } else if (agrees(at, engine.behind(blocks, index), local)) {
      engine.hold(shelf, at, blocks.addsCopies());
    } else {
      boolean owed = copies(shelf, at) < 0;
      block = takeAside(at, hash);
      hold(block, shelf, blocks.addsCopies() && !owed);
      contradict(block);
      resolveOrphansOf(hash);
    }
    return true;
  }

  /** Whether a named block may be what a store says; {@code behind} is the claimed parent's end. */
  private boolean agrees(long at, long behind, long local) {
    long name = engine.nameOf(at);
    return behind == NOWHERE
        ? core.runs().localHash(Runs.run(name), Runs.offset(name)) == local
        : core.placement().childPlace(behind, local) == name;
  }

  /** A store says what a block is that stands unnamed. */
  private void claimed(UnnamedBlock block, boolean atRoot, long parent, long local) {
    if (block.naming == Naming.UNNAMED) {
      block.claim(atRoot, parent, local);
      resolveName(block);
      resolveOrphansOf(block.engineHash);
      dropOldestOrphan();
    } else if (block.naming == Naming.ORPHAN && !block.claims(atRoot, parent, local)) {
      contradict(block);
      resolveOrphansOf(block.engineHash);
    }
  }

  /** A block that nobody has named is this one; false if it was said to be something. */
  boolean name(UnnamedBlock block, StoredBlocks names, int index) {
    boolean unnamed = block.naming == Naming.UNNAMED;
    if (unnamed) {
      boolean atRoot = index == 0 && names.atRoot();
      long parent = index == 0 ? names.parent() : names.engineHash(index - 1);
      claimed(block, atRoot, parent, names.localHash(index));
    }
    return unnamed;
  }

  private void resolveName(UnnamedBlock block) {
    long place = block.atRoot ? core.runs().root(block.parent) : engine.behind(block.parent);
    if (place != NOWHERE) {
      if (core.room().hasForName(block)) {
        name(block, place);
      }
      return;
    }
    UnnamedBlock parent = unnamed.get(block.parent);
    if (parent != null && parent.naming == Naming.CONTRADICTED && !block.atRoot) {
      contradict(block);
    } else {
      unnamed.joinOrphans(block);
    }
  }

  /**
   * Resolves the names of all blocks that wait for this one, directly or not, if its own is
   * resolved.
   */
  void resolveOrphansOf(long engineHash) {
    if (isSettled(engineHash)) {
      resolveNext(engineHash);
    }
  }

  private boolean isSettled(long engineHash) {
    UnnamedBlock block = unnamed.get(engineHash);
    return block == null || block.naming == Naming.CONTRADICTED;
  }

  private void resolveNext(long engineHash) {
    List<Long> resolved = new ArrayList<>(List.of(engineHash));
    for (int i = 0; i < resolved.size(); i++) {
      UnnamedBlock orphan = unnamed.orphanOf(resolved.get(i));
      while (orphan != null) {
        unnamed.leaveOrphans(orphan);
        resolveName(orphan);
        if (isSettled(orphan.engineHash)) {
          resolved.add(orphan.engineHash);
        }
        orphan = unnamed.orphanOf(resolved.get(i));
      }
    }
  }

  /** Settles the blocks that wait for any of these, which have their names now. */
  void adopt(StoredBlocks blocks, int from, int to) {
    for (int i = from; i < to && unnamed.orphans() > 0; i++) {
      if (unnamed.orphanOf(blocks.engineHash(i)) != null) {
        resolveNext(blocks.engineHash(i));
      }
    }
  }

  private void contradict(UnnamedBlock block) {
    unnamed.leaveOrphans(block);
    block.naming = Naming.CONTRADICTED;
    contradictions++;
  }

  /** Gives up the orphan that waited longest, if there are too many. */
  void dropOldestOrphan() {
    UnnamedBlock oldest = unnamed.oldestOrphan();
    if (unnamed.orphans() > maxOrphans && oldest != null) {
      unnamed.leaveOrphans(oldest);
      orphansDropped++;
    }
  }

  /** Moves a block from unnamed into the tree. */
  private void name(UnnamedBlock block, long place) {
    unnamed.remove(block);
    one.behind(StorageTier.GPU, 0, 0).add(block.engineHash, block.localHash);
    for (int i = 0; i < block.size(); i++) {
      Shelf shelf = core.shelves().get(block.shelf(i));
      if (core.placement().of(engine, shelf).put(place, one, 0, 1) != 1) {
        throw new IllegalStateException("engineHash=" + block.engineHash + " is held elsewhere");
      }
      long last = core.placement().last();
      for (int copy = 1; copy < block.copies(i); copy++) {
        core.runs().copies.add(shelf.id, core.runs().block(Runs.run(last), Runs.offset(last)));
      }
    }
  }

  private int copies(Shelf shelf, long at) {
    return core.runs().copies.more(shelf.id, core.runs().block(Runs.run(at), Runs.offset(at)));
  }

  /** Moves a block with all its copies out of the tree; where it was suspended it is forgotten. */
  private UnnamedBlock takeAside(long at, long hash) {
    UnnamedBlock block = unnamed.add(hash);
    int source = Runs.run(at);
    int offset = Runs.offset(at);
    int run = core.runs().names(source);
    int number = core.runs().block(source, offset);
    for (Shelf shelf : engine.shelves()) {
      int entry =
          core.runs().isListed(source, offset) ? core.holdings().find(run, source, shelf.id) : -1;
      if (entry >= 0 && ((core.holdings().mask(run, entry) >>> offset) & 1) != 0) {
        if (!shelf.isSuspended()) {
          unnamed.hold(block, shelf.id, 1 + Math.max(0, core.runs().copies.more(shelf.id, number)));
        }
        core.runs().copies.forget(shelf.id, number);
        core.placement().release(shelf, run, entry, 1L << offset);
        engine.more(shelf, -1);
      }
    }
    return block;
  }

  /** One more copy of a block that stands unnamed. */
  void hold(UnnamedBlock block, Shelf shelf, boolean addsCopies) {
    boolean counts = addsCopies && engine.counting() == CopyCounting.PER_COPY;
    if (counts || !block.isOn(shelf.id)) {
      unnamed.hold(block, shelf.id, 1);
    }
  }
}
