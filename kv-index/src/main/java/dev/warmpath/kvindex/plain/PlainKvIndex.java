package dev.warmpath.kvindex.plain;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.reuse.HeldRows;
import dev.warmpath.kvindex.reuse.TierReuse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An index made of hash maps: one table from block key to its holders, and per engine one map from
 * engine hash to name.
 *
 * <p>Orphans are bounded for each engine; when there is no room the one that has waited longest
 * stays held but forgets what it was called, which is counted. A write costs time in proportion to
 * its blocks and to what it adopts; a query to the prompt's blocks and their holders.
 *
 * <p>Single writer, many readers.
 */
public final class PlainKvIndex implements KvIndex {

  private final int maxOrphansPerEngine;
  private final HolderTable table = new HolderTable();
  private final List<@Nullable Engine> engines = new ArrayList<>();
  private final ReadWriteLock lock = new ReentrantReadWriteLock();

  /**
   * @param maxOrphansPerEngine how many blocks of one engine may wait for their parent's name
   */
  public PlainKvIndex(int maxOrphansPerEngine) {
    if (maxOrphansPerEngine < 0) {
      throw new IllegalArgumentException("maxOrphansPerEngine=" + maxOrphansPerEngine);
    }
    this.maxOrphansPerEngine = maxOrphansPerEngine;
  }

  @Override
  public int addEngine(CopyCounting counting) {
    return locked(lock.writeLock(), () -> place(new Engine(counting, table, maxOrphansPerEngine)));
  }

  @Override
  public void removeEngine(int slot) {
    write(
        slot,
        engine -> {
          engine.clear();
          engines.set(slot, null);
        });
  }

  @Override
  public void layout(int slot, CacheLayout layout) {
    write(slot, engine -> engine.layout(layout));
  }

  @Override
  public void stored(int slot, StoredBlocks blocks) {
    write(slot, engine -> engine.stored(blocks));
  }

  @Override
  public void removed(int slot, RemovedBlocks blocks) {
    write(slot, engine -> engine.removed(blocks));
  }

  @Override
  public void cleared(int slot) {
    write(slot, Engine::clear);
  }

  @Override
  public long doubted(int slot) {
    return locked(lock.writeLock(), () -> engine(slot).doubt());
  }

  @Override
  public long proven(int slot, StorageTier tier, int group, BlockChain prompt, int blocks) {
    return locked(
        lock.writeLock(),
        () -> engine(slot).proven(engine(slot).shelf(tier, group), prompt, blocks));
  }

  @Override
  public long recalled(int slot, StoredBlocks names) {
    return locked(lock.writeLock(), () -> engine(slot).recalled(names));
  }

  @Override
  public void match(BlockChain prompt, PrefixMatches matches) {
    locked(lock.readLock(), () -> fill(prompt, matches));
  }

  @Override
  public EngineStats stats(int slot) {
    return locked(lock.readLock(), () -> engine(slot).stats());
  }

  /** Asserts the invariants of each engine and that the table lists nothing else. */
  void checkInvariants() {
    long listed = 0;
    for (Engine engine : engines) {
      if (engine != null) {
        engine.checkInvariants();
        listed += engine.stats().namedBlocks();
      }
    }
    if (listed != table.total()) {
      throw new AssertionError("listed=" + table.total() + " named=" + listed);
    }
  }

  private int place(Engine engine) {
    int slot = engines.indexOf(null);
    if (slot < 0) {
      engines.add(engine);
      return engines.size() - 1;
    }
    engines.set(slot, engine);
    return slot;
  }

  private Engine engine(int slot) {
    Engine engine = slot >= 0 && slot < engines.size() ? engines.get(slot) : null;
    if (engine == null) {
      throw new IllegalArgumentException("slot=" + slot + " has no engine");
    }
    return engine;
  }

  private PrefixMatches fill(BlockChain prompt, PrefixMatches matches) {
    HeldRows held = new HeldRows();
    held.begin(prompt.blocks());
    markByShelf(prompt, held);
    matches.begin(engines.size());
    for (int slot = 0; slot < engines.size(); slot++) {
      Engine engine = engines.get(slot);
      if (engine != null) {
        new TierReuse(held, engine::shelf).fill(slot, engine.layout(), prompt, matches);
      }
    }
    return matches;
  }

  /** Gives each shelf the row of its id and marks which of the prompt's blocks it holds. */
  private void markByShelf(BlockChain prompt, HeldRows held) {
    for (int shelf = 0; shelf < table.shelfBound(); shelf++) {
      held.add();
    }
    for (int block = 0; block < prompt.blocks(); block++) {
      Tally holders = table.holders(prompt.blockKey(block));
      for (int i = 0; holders != null && i < holders.size(); i++) {
        held.mark(holders.shelf(i), block, 1);
      }
    }
  }

  private void write(int slot, Consumer<Engine> change) {
    locked(
        lock.writeLock(),
        () -> {
          change.accept(engine(slot));
          return slot;
        });
  }

  private static <T> T locked(Lock lock, Supplier<T> body) {
    lock.lock();
    try {
      return body.get();
    } finally {
      lock.unlock();
    }
  }
}
