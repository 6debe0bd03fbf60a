package dev.warmpath.kvindex.runs.snapshot;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.runs.engine.RunEngine;
import dev.warmpath.kvindex.runs.engine.UnnamedBlock;
import dev.warmpath.kvindex.runs.engine.UnnamedBlock.Naming;
import dev.warmpath.kvindex.runs.engine.UnnamedBlocks;
import dev.warmpath.kvindex.runs.tree.Shelves.Shelf;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the engines to a snapshot: what they are before the runs, what they hold unnamed behind.
 *
 * <p>Confined to the writer.
 */
public final class FleetWriter {

  private final List<@Nullable RunEngine> engines;
  private final SnapshotOutput out;
  private final int[] shelfNumbers;

  public FleetWriter(List<@Nullable RunEngine> engines, int shelfBound, SnapshotOutput out) {
    this.engines = engines;
    this.out = out;
    shelfNumbers = new int[shelfBound];
  }

  /** For each shelf's id its number in the snapshot; they count from 0 in the order written. */
  public int[] shelfNumbers() {
    return shelfNumbers;
  }

  public void writeEngines() {
    out.int32(engines.size());
    int shelves = 0;
    for (RunEngine engine : engines) {
      if (engine == null) {
        out.int8(0);
      } else {
        writeEngine(engine);
        for (Shelf shelf : engine.shelves()) {
          shelfNumbers[shelf.id] = shelves++;
        }
      }
    }
  }

  public void writeAside() {
    for (RunEngine engine : engines) {
      if (engine != null) {
        writeAside(engine.unnamed());
      }
    }
  }

  private void writeEngine(RunEngine engine) {
    out.int8(1 + engine.counting().ordinal());
    writeLayout(engine.layout());
    EngineStats stats = engine.stats();
    out.int64(stats.orphansDropped());
    out.int64(stats.unknownRemovals());
    out.int64(stats.contradictions());
    out.int32(engine.shelves().size());
    for (Shelf shelf : engine.shelves()) {
      out.int8(shelf.tier.ordinal());
      out.int32(shelf.group);
    }
  }

  private void writeLayout(CacheLayout layout) {
    out.int32(layout.withheldTokens());
    out.int32(layout.droppedBlocks());
    out.int32(layout.groups().size());
    for (CacheGroup group : layout.groups()) {
      out.int32(group.index());
      out.int8(group.kind().ordinal());
      out.int32(group.blockSizeTokens());
      out.int32(group.slidingWindowTokens());
    }
  }

  private void writeAside(UnnamedBlocks unnamed) {
    UnnamedBlock orphan = unnamed.oldestOrphan();
    while (orphan != null) {
      writeBlock(orphan);
      orphan = orphan.younger;
    }
    unnamed.forEach(block -> {
      if (block.naming != Naming.ORPHAN) {
        writeBlock(block);
      }
    });
    out.int8(0);
  }

  private void writeBlock(UnnamedBlock block) {
    out.int8(1 + block.naming.ordinal());
    out.int64(block.engineHash);
    if (block.naming == Naming.ORPHAN) {
      out.int64(block.parent);
      out.int64(block.localHash);
    }
    out.int32(block.size());
    for (int i = 0; i < block.size(); i++) {
      out.int32(shelfNumbers[block.shelf(i)]);
      out.int32(block.copies(i));
    }
  }
}
