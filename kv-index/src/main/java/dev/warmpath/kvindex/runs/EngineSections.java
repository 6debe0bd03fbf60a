package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import dev.warmpath.kvindex.runs.UnnamedBlock.Naming;
import dev.warmpath.kvindex.snapshot.Section;
import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a snapshot says of the engines beside the tree: what they are, and what they hold unnamed.
 *
 * <p>For one snapshot, to be written or to be read. Confined to the writer.
 */
final class EngineSections {

  private static final int MAX_SLOTS = 1 << 16;

  private final RunEngine.Core core;
  private final int maxOrphans;
  private final List<@Nullable RunEngine> engines;

  /** Shelves are numbered from 0 in the order in which they stand in the snapshot. */
  private final List<Shelf> shelves = new ArrayList<>();

  /** Of a snapshot that is written: for each shelf's id its number. */
  private final int[] numbers;

  /**
   * @param engines by slot: those to write, or none yet
   */
  EngineSections(RunEngine.Core core, int maxOrphans, List<@Nullable RunEngine> engines) {
    this.core = core;
    this.maxOrphans = maxOrphans;
    this.engines = engines;
    numbers = new int[core.shelves().bound()];
  }

  /** Number of shelves. */
  int shelves() {
    return shelves.size();
  }

  /** The shelf with a number in the snapshot. */
  Shelf shelf(int number) {
    return shelves.get(number);
  }

  /** The number in the snapshot of the shelf with an id. */
  int number(int shelf) {
    return numbers[shelf];
  }

  RunEngine engine(Shelf shelf) {
    RunEngine engine = engines.get(shelf.slot);
    if (engine == null) {
      throw new IllegalStateException("shelf=" + shelf.id + " has no engine");
    }
    return engine;
  }

  void write(SnapshotOutput out) {
    out.begin(Section.ENGINES);
    out.int32(engines.size());
    for (RunEngine engine : engines) {
      out.int8(engine == null ? 0 : 1 + engine.counting().ordinal());
      if (engine != null) {
        write(engine, out);
      }
    }
    out.end();
  }

  void read(SnapshotInput in) throws IOException {
    in.begin(Section.ENGINES);
    int slots = in.int32("slots", 0, MAX_SLOTS);
    for (int slot = 0; slot < slots; slot++) {
      int kind = in.int8("engine", CopyCounting.values().length);
      engines.add(kind == 0 ? null : read(slot, CopyCounting.values()[kind - 1], in));
    }
    in.end();
  }

  private void write(RunEngine engine, SnapshotOutput out) {
    engine.layout().writeTo(out);
    EngineStats stats = engine.stats();
    out.int64(stats.orphansDropped());
    out.int64(stats.unknownRemovals());
    out.int64(stats.contradictions());
    out.int32(engine.shelves().size());
    for (Shelf shelf : engine.shelves()) {
      out.constant(shelf.tier);
      out.int32(shelf.group);
      numbers[shelf.id] = shelves.size();
      shelves.add(shelf);
    }
  }

  private RunEngine read(int slot, CopyCounting counting, SnapshotInput in) throws IOException {
    RunEngine engine = new RunEngine(slot, counting, maxOrphans, core);
    engine.layout(CacheLayout.readFrom(in));
    engine.counters(
        in.count("orphansDropped"), in.count("unknownRemovals"), in.count("contradictions"));
    int count = in.int32("shelves", 0, Integer.MAX_VALUE);
    for (int i = 0; i < count; i++) {
      StorageTier tier = in.constant("tier", StorageTier.values());
      int group = in.int32("group", Integer.MIN_VALUE, Integer.MAX_VALUE);
      if (engine.shelf(tier, group) != null) {
        throw in.damaged("shelf=" + tier + "/" + group + " twice");
      }
      shelves.add(engine.openShelf(tier, group));
    }
    engine.pairShelves();
    return engine;
  }

  void writeAside(SnapshotOutput out) {
    out.begin(Section.ASIDE);
    for (RunEngine engine : engines) {
      if (engine != null) {
        writeAside(engine.unnamed(), out);
      }
    }
    out.end();
  }

  private void writeAside(UnnamedBlocks unnamed, SnapshotOutput out) {
    UnnamedBlock orphan = unnamed.oldestOrphan();
    while (orphan != null) {
      write(orphan, out);
      orphan = orphan.younger;
    }
    unnamed.forEach(block -> {
      if (block.naming != Naming.ORPHAN) {
        write(block, out);
      }
    });
    out.int8(0);
  }

  /** Reads what stands unnamed; returns how many held blocks there was no room for. */
  long readAside(SnapshotInput in) throws IOException {
    in.begin(Section.ASIDE);
    long omitted = 0;
    for (RunEngine engine : engines) {
      int kind = engine == null ? 0 : readKind(in);
      while (engine != null && kind != 0) {
        omitted += read(engine, Naming.values()[kind - 1], in);
        kind = readKind(in);
      }
    }
    in.end();
    return omitted;
  }

  private static int readKind(SnapshotInput in) throws IOException {
    return in.int8("naming", Naming.values().length);
  }

  private void write(UnnamedBlock block, SnapshotOutput out) {
    out.int8(1 + block.naming.ordinal());
    out.int64(block.engineHash);
    if (block.naming == Naming.ORPHAN) {
      out.int64(block.parent);
      out.int64(block.localHash);
    }
    out.int32(block.size());
    for (int i = 0; i < block.size(); i++) {
      out.int32(numbers[block.shelf(i)]);
      out.int32(block.copies(i));
    }
  }

  /** Reads a block behind its kind; returns on how many shelves it was held if it has no room. */
  private long read(RunEngine engine, Naming naming, SnapshotInput in) throws IOException {
    UnnamedBlocks unnamed = engine.unnamed();
    long hash = in.int64();
    if (unnamed.get(hash) != null || engine.find(hash) != Runs.NOWHERE) {
      throw in.damaged("an engine hash stands unnamed twice, or has a name too");
    }
    UnnamedBlock block = core.room().hasAside() ? unnamed.add(hash) : null;
    if (naming == Naming.ORPHAN) {
      long parent = in.int64();
      long localHash = in.int64();
      if (block != null) {
        block.claim(false, parent, localHash);
        unnamed.joinOrphans(block);
      }
    }
    if (block != null) {
      block.naming = naming;
      checkWaiting(engine, block, in);
    }
    int holders = in.int32("holders", 1, engine.shelves().size());
    for (int i = 0; i < holders; i++) {
      readHolder(engine, block, in);
    }
    if (block == null) {
      return holders;
    }
    engine.dropOldestOrphan();
    return 0;
  }

  private void readHolder(RunEngine engine, @Nullable UnnamedBlock block, SnapshotInput in)
      throws IOException {
    Shelf shelf = shelf(in.int32("shelf", 0, shelves.size() - 1));
    if (shelf.slot != engine.slot()
        || shelf.isSuspended()
        || (block != null && block.isOn(shelf.id))) {
      throw in.damaged("shelf=" + shelf.id + " of another engine, suspended, or twice");
    }
    int most = engine.counting() == CopyCounting.PRESENCE ? 1 : Integer.MAX_VALUE;
    int copies = in.int32("copies", 1, most);
    if (block != null) {
      engine.unnamed().hold(block, shelf.id, copies);
    }
  }

  /** What waits must wait for something. */
  private void checkWaiting(RunEngine engine, UnnamedBlock block, SnapshotInput in)
      throws IOException {
    boolean waits = block.naming == Naming.ORPHAN;
    UnnamedBlock parent = waits ? engine.unnamed().get(block.parent) : null;
    if ((waits && engine.find(block.parent) != Runs.NOWHERE)
        || (parent != null && parent.naming == Naming.CONTRADICTED)
        || (block.naming == Naming.CONTRADICTED
            && engine.unnamed().orphanOf(block.engineHash) != null)) {
      throw in.damaged("an orphan waits for a parent that is known");
    }
  }
}
