package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Snapshots in memory, and an index that has one of everything. */
final class SnapshotFixture {

  static final ChainSpace SPACE = new ChainSpace("m", 2, 0);
  static final ChainSpace OTHER_SPACE = new ChainSpace("n", 2, 1);

  private SnapshotFixture() {}

  static byte[] write(RunKvIndex index) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SnapshotOutput snapshot = new SnapshotOutput(out, Long.MAX_VALUE);
    index.writeTo(snapshot);
    snapshot.finish();
    return out.toByteArray();
  }

  static RunKvIndex read(byte[] snapshot, IndexLimits limits) throws IOException {
    RunKvIndex index = new RunKvIndex(limits, 2);
    ByteArrayInputStream in = new ByteArrayInputStream(snapshot);
    index.readFrom(new SnapshotInput(in, Long.MAX_VALUE), List.of());
    return index;
  }

  /** What becomes of an index in a snapshot. */
  static RunKvIndex reload(RunKvIndex index) {
    try {
      return read(write(index), index.limits());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Five engines in slots 0, 2, 3, 4 and 5, and one of everything that there can be.
   *
   * <p>Block i of the long prompt has local hash i and, for most engines, engine hash 1000 + i.
   */
  static RunKvIndex everything() {
    RunKvIndex index = new RunKvIndex(new IndexLimits(4, 1 << 24), 1);
    for (int slot = 0; slot < 7; slot++) {
      index.addEngine(slot == 3 ? CopyCounting.PRESENCE : CopyCounting.PER_COPY);
      index.layout(slot, slot == 4 ? hybrid() : plain());
    }
    index.removeEngine(1);
    tree(index);
    unnamed(index);
    index.removeEngine(6);
    return index;
  }

  static StoredBlocks blocks(StoredBlocks stored, long firstHash, long firstLocal, int count) {
    for (int i = 0; i < count; i++) {
      stored.add(firstHash + i, firstLocal + i);
    }
    return stored;
  }

  private static void tree(RunKvIndex index) {
    StoredBlocks stored = new StoredBlocks();
    long root = SPACE.rootKey();
    index.stored(0, blocks(stored.atRoot(StorageTier.GPU, 0, root), 1000, 0, 70));
    index.stored(2, blocks(stored.atRoot(StorageTier.GPU, 0, root), 1000, 0, 20));
    index.stored(2, blocks(stored.behind(StorageTier.GPU, 0, 1009), 1500, 500, 3));
    // Copies, other tiers, presence.
    index.stored(2, blocks(stored.atRoot(StorageTier.GPU, 0, root), 1000, 0, 4));
    index.stored(2, blocks(stored.atRoot(StorageTier.CPU, 0, root), 1000, 0, 9));
    index.stored(2, blocks(stored.atRoot(StorageTier.DISK, 0, root), 1000, 0, 2));
    index.stored(3, blocks(stored.atRoot(StorageTier.GPU, 0, root), 1000, 0, 5));
    index.stored(3, blocks(stored.atRoot(StorageTier.GPU, 0, root), 1000, 0, 5));
    // Other engine hashes for the same names, in one engine too.
    index.stored(4, blocks(stored.atRoot(StorageTier.GPU, 0, root), 2000, 0, 12));
    index.stored(4, blocks(stored.atRoot(StorageTier.GPU, 1, root), 3000, 0, 8));
    index.stored(0, blocks(stored.atRoot(StorageTier.GPU, 0, root), 4000, 0, 3));
    // The same engine hashes for other names.
    long other = OTHER_SPACE.rootKey();
    index.stored(5, blocks(stored.atRoot(StorageTier.GPU, 0, other), 1000, 900, 3));
    // Holes; and a run of which only what hangs behind it is held.
    RemovedBlocks removed = new RemovedBlocks();
    index.removed(0, removed.from(StorageTier.GPU, 0).add(1005).add(1030).add(1069).add(7));
    index.stored(5, blocks(stored.behind(StorageTier.GPU, 0, 1002), 5000, 40, 3));
    index.stored(5, blocks(stored.behind(StorageTier.GPU, 0, 5001), 5100, 50, 2));
    index.removed(5, removed.from(StorageTier.GPU, 0).add(5000).add(5001).add(5002));
  }

  private static void unnamed(RunKvIndex index) {
    StoredBlocks stored = new StoredBlocks();
    index.stored(0, blocks(stored.unnamed(StorageTier.CPU, 0), 6000, 0, 2));
    index.stored(0, blocks(stored.unnamed(StorageTier.DISK, 0), 6000, 0, 1));
    index.stored(0, blocks(stored.behind(StorageTier.GPU, 0, 6999), 7000, 70, 3));
    index.stored(0, blocks(stored.behind(StorageTier.GPU, 0, 6999), 7100, 80, 3));
    index.stored(2, blocks(stored.behind(StorageTier.GPU, 0, 1500), 1501, 77, 1));
    index.stored(2, blocks(stored.behind(StorageTier.GPU, 0, 1501), 1502, 78, 1));
  }

  private static CacheLayout plain() {
    return new CacheLayout(List.of(new CacheGroup(0, Kind.FULL_ATTENTION, 2, 0)), 1, 0);
  }

  private static CacheLayout hybrid() {
    CacheGroup full = new CacheGroup(0, Kind.FULL_ATTENTION, 2, 0);
    return new CacheLayout(List.of(full, new CacheGroup(1, Kind.SLIDING_WINDOW, 2, 5)), 0, 1);
  }
}
