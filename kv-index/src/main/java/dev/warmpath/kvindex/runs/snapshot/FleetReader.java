package dev.warmpath.kvindex.runs.snapshot;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.runs.engine.RunEngine;
import dev.warmpath.kvindex.runs.engine.UnnamedBlock;
import dev.warmpath.kvindex.runs.engine.UnnamedBlock.Naming;
import dev.warmpath.kvindex.runs.engine.UnnamedBlocks;
import dev.warmpath.kvindex.runs.tree.Runs;
import dev.warmpath.kvindex.runs.tree.Shelves.Shelf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the engines of a snapshot: what they are before the runs, what they hold unnamed behind.
 *
 * <p>Confined to the writer.
 */
public final class FleetReader {

  private static final int MAX_SLOTS = 1 << 16;

  private final RunEngine.Core core;
  private final int maxOrphans;
  private final List<@Nullable RunEngine> engines;
  private final List<Shelf> shelves = new ArrayList<>();
  private final SnapshotInput in;

  /**
   * @param engines gets the engines by slot
   */
  public FleetReader(
      RunEngine.Core core, int maxOrphans, List<@Nullable RunEngine> engines, SnapshotInput in) {
    this.core = core;
    this.maxOrphans = maxOrphans;
    this.engines = engines;
    this.in = in;
  }

  /** Number of shelves. */
  public int shelves() {
    return shelves.size();
  }

  /** The shelf with a number in the snapshot. */
  public Shelf shelf(int number) {
    return shelves.get(number);
  }

  public RunEngine engine(Shelf shelf) {
    RunEngine engine = engines.get(shelf.slot);
    if (engine == null) {
      throw new IllegalStateException("shelf=" + shelf.id + " has no engine");
    }
    return engine;
  }

  public void readEngines() throws IOException {
    int slots = in.int32("slots", 0, MAX_SLOTS);
    for (int slot = 0; slot < slots; slot++) {
      int kind = in.int8("engine", CopyCounting.values().length);
      engines.add(kind == 0 ? null : readEngine(slot, CopyCounting.values()[kind - 1]));
    }
  }

  /** Reads what stands unnamed; returns how many held blocks there was no room for. */
  public long readAside() throws IOException {
    long omitted = 0;
    for (RunEngine engine : engines) {
      int kind = engine == null ? 0 : readKind();
      while (engine != null && kind != 0) {
        omitted += readBlock(engine, Naming.values()[kind - 1]);
        kind = readKind();
      }
    }
    return omitted;
  }

  private RunEngine readEngine(int slot, CopyCounting counting) throws IOException {
    RunEngine engine = new RunEngine(slot, counting, maxOrphans, core);
    engine.layout(readLayout());
    engine.counters(
        in.count("orphansDropped"), in.count("unknownRemovals"), in.count("contradictions"));
    int count = in.int32("shelves", 0, Integer.MAX_VALUE);
    for (int i = 0; i < count; i++) {
      StorageTier tier = StorageTier.values()[in.int8("tier", StorageTier.values().length - 1)];
      int group = in.int32("group", Integer.MIN_VALUE, Integer.MAX_VALUE);
      if (engine.shelf(tier, group) != null) {
        throw in.damaged("shelf=" + tier + "/" + group + " twice");
      }
      shelves.add(engine.openShelf(tier, group));
    }
    engine.pairShelves();
    return engine;
  }

  private CacheLayout readLayout() throws IOException {
    int withheldTokens = in.int32("withheldTokens", 0, Integer.MAX_VALUE);
    int droppedBlocks = in.int32("droppedBlocks", 0, Integer.MAX_VALUE);
    int count = in.int32("groups", 0, Integer.MAX_VALUE);
    List<CacheGroup> groups = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      groups.add(readGroup());
    }
    try {
      return new CacheLayout(groups, withheldTokens, droppedBlocks);
    } catch (IllegalArgumentException e) {
      throw in.damaged("groups are not in order");
    }
  }

  private CacheGroup readGroup() throws IOException {
    int index = in.int32("index", 0, Integer.MAX_VALUE);
    Kind kind = Kind.values()[in.int8("kind", Kind.values().length - 1)];
    int blockSizeTokens = in.int32("blockSizeTokens", 1, Integer.MAX_VALUE);
    int slidingWindowTokens = in.int32("slidingWindowTokens", 0, Integer.MAX_VALUE);
    try {
      return new CacheGroup(index, kind, blockSizeTokens, slidingWindowTokens);
    } catch (IllegalArgumentException e) {
      throw in.damaged("group " + e.getMessage());
    }
  }

  private int readKind() throws IOException {
    return in.int8("naming", Naming.values().length);
  }

  private long readBlock(RunEngine engine, Naming naming) throws IOException {
    UnnamedBlocks unnamed = engine.unnamed();
    long hash = in.int64();
    if (unnamed.get(hash) != null || engine.find(hash) != Runs.NOWHERE) {
      throw in.damaged("an engine hash stands unnamed twice, or has a name too");
    }
    if (!core.room().hasAside()) {
      return skipBlock(engine, naming);
    }
    UnnamedBlock block = unnamed.add(hash);
    if (naming == Naming.ORPHAN) {
      block.claim(false, in.int64(), in.int64());
      unnamed.joinOrphans(block);
    }
    block.naming = naming;
    checkWaiting(engine, block);
    readHolders(engine, block);
    engine.dropOldestOrphan();
    return 0;
  }

  /** Reads a block for which there is no room; returns on how many shelves it was held. */
  private long skipBlock(RunEngine engine, Naming naming) throws IOException {
    if (naming == Naming.ORPHAN) {
      in.int64();
      in.int64();
    }
    int holders = in.int32("holders", 1, engine.shelves().size());
    for (int i = 0; i < holders; i++) {
      in.int32("shelf", 0, shelves.size() - 1);
      in.int32("copies", 1, Integer.MAX_VALUE);
    }
    return holders;
  }

  /** What waits must wait for something. */
  private void checkWaiting(RunEngine engine, UnnamedBlock block) throws IOException {
    boolean waits = block.naming == Naming.ORPHAN;
    UnnamedBlock parent = waits ? engine.unnamed().get(block.parent) : null;
    if ((waits && engine.find(block.parent) != Runs.NOWHERE)
        || (parent != null && parent.naming == Naming.CONTRADICTED)
        || (block.naming == Naming.CONTRADICTED
            && engine.unnamed().orphanOf(block.engineHash) != null)) {
      throw in.damaged("an orphan waits for a parent that is known");
    }
  }

  private void readHolders(RunEngine engine, UnnamedBlock block) throws IOException {
    int holders = in.int32("holders", 1, engine.shelves().size());
    for (int i = 0; i < holders; i++) {
      Shelf shelf = shelf(in.int32("shelf", 0, shelves.size() - 1));
      if (shelf.slot != engine.slot() || shelf.isSuspended() || block.isOn(shelf.id)) {
        throw in.damaged("shelf=" + shelf.id + " of another engine, suspended, or twice");
      }
      int most = engine.counting() == CopyCounting.PRESENCE ? 1 : Integer.MAX_VALUE;
      engine.unnamed().hold(block, shelf.id, in.int32("copies", 1, most));
    }
  }
}
