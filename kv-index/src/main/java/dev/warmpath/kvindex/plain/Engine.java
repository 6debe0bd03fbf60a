package dev.warmpath.kvindex.plain;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.plain.HeldBlock.Claim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What one engine holds on which shelf, and how its cache is laid out.
 *
 * <p>Single writer, many readers, under the lock of the index.
 */
final class Engine {

  private final CopyCounting counting;
  private final HolderTable table;
  private final Map<Long, Integer> shelves = new HashMap<>();
  private final Map<Long, HeldBlock> blocks = new HashMap<>();
  private final BlockNames names;
  private CacheLayout layout = new CacheLayout(List.of(), 0, 0);
  private long heldBlocks;
  private long unknownRemovals;

  Engine(CopyCounting counting, HolderTable table, int maxOrphans) {
    this.counting = counting;
    this.table = table;
    names = new BlockNames(blocks, table, maxOrphans);
  }

  CacheLayout layout() {
    return layout;
  }

  void layout(CacheLayout layout) {
    this.layout = layout;
  }

  /** The id of the shelf for (tier, group), or −1 when nothing was ever stored there. */
  int shelf(StorageTier tier, int group) {
    return shelves.getOrDefault(shelfKey(tier, group), -1);
  }

  void stored(StoredBlocks stored) {
    int shelf =
        shelves.computeIfAbsent(shelfKey(stored.tier(), stored.group()), key -> table.openShelf());
    for (int i = 0; i < stored.count(); i++) {
      HeldBlock block = blocks.computeIfAbsent(stored.engineHash(i), HeldBlock::new);
      hold(block, shelf);
      if (stored.named()) {
        names.claimed(block, claim(stored, i));
      }
    }
  }

  void removed(RemovedBlocks removed) {
    int shelf = shelf(removed.tier(), removed.group());
    for (int i = 0; i < removed.count(); i++) {
      removed(shelf, removed.engineHash(i));
    }
  }

  private void removed(int shelf, long engineHash) {
    HeldBlock block = blocks.get(engineHash);
    if (block == null || block.copies.count(shelf) == 0) {
      unknownRemovals++;
    } else if (block.copies.take(shelf) == 0) {
      gone(block, shelf);
    }
  }

  /** Forgets all holdings; the layout and the counters stay. */
  void clear() {
    names.clear();
    blocks.clear();
    heldBlocks = 0;
    shelves.values().forEach(table::closeShelf);
    shelves.clear();
  }

  EngineStats stats() {
    return new EngineStats(
        heldBlocks,
        names.namedBlocks(),
        names.orphanBlocks(),
        names.orphansDropped(),
        unknownRemovals,
        names.contradictions());
  }

  /** Asserts I1 to I3 of {@link BlockNames} and the count of held blocks. */
  void checkInvariants() {
    names.checkInvariants();
    long held = blocks.values().stream().mapToLong(block -> block.copies.size()).sum();
    if (held != heldBlocks) {
      throw new AssertionError("held=" + held + " heldBlocks=" + heldBlocks);
    }
  }

  private static long shelfKey(StorageTier tier, int group) {
    return (long) group << 2 | tier.ordinal();
  }

  private static Claim claim(StoredBlocks stored, int index) {
    return index == 0
        ? new Claim(stored.atRoot(), stored.parent(), stored.localHash(0))
        : new Claim(false, stored.engineHash(index - 1), stored.localHash(index));
  }

  private void hold(HeldBlock block, int shelf) {
    boolean present = block.copies.count(shelf) > 0;
    if (!present || counting == CopyCounting.PER_COPY) {
      block.copies.add(shelf);
    }
    if (!present) {
      heldBlocks++;
      names.shelved(block, shelf);
    }
  }

  private void gone(HeldBlock block, int shelf) {
    heldBlocks--;
    names.unshelved(block, shelf);
    if (block.copies.size() == 0) {
      names.forget(block);
      blocks.remove(block.engineHash);
    }
  }
}
