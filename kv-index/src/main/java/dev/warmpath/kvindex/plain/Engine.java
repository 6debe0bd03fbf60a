package dev.warmpath.kvindex.plain;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.plain.HeldBlock.Claim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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
  private long doubtedBlocks;

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
    int shelf = openShelf(stored);
    if (doubtedBlocks > 0 && stored.proves() && layout.isFullAttention(stored.group())) {
      proveBack(blocks.get(stored.parent()), shelf);
    }
    for (int i = 0; i < stored.count(); i++) {
      HeldBlock block = blocks.computeIfAbsent(stored.engineHash(i), HeldBlock::new);
      hold(block, shelf, stored.addsCopies());
      if (stored.named()) {
        doubtedBlocks -= block.doubts.size();
        names.claimed(block, claim(stored, i));
        doubtedBlocks += block.doubts.size();
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
    if (block != null && block.settle(shelf)) {
      doubtedBlocks--;
      forgetUnknown(block);
    } else if (block == null || block.copies.count(shelf) == 0) {
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
    doubtedBlocks = 0;
    shelves.values().forEach(table::closeShelf);
    shelves.clear();
  }

  /** Doubts all that has a name and forgets the rest; returns how many blocks that doubts. */
  long doubt() {
    names.doubtAll();
    blocks.values().removeIf(block -> !block.isNamed());
    long before = doubtedBlocks;
    for (HeldBlock block : blocks.values()) {
      doubtedBlocks += block.doubt();
    }
    heldBlocks = 0;
    return doubtedBlocks - before;
  }

  /** Names blocks without holding them; returns how many that doubts. */
  long recalled(StoredBlocks recalled) {
    int shelf = openShelf(recalled);
    long before = doubtedBlocks;
    for (int i = 0; i < recalled.count(); i++) {
      long hash = recalled.engineHash(i);
      Claim claim = claim(recalled, i);
      if (!names.allows(hash, claim)) {
        break;
      }
      HeldBlock block = blocks.computeIfAbsent(hash, HeldBlock::new);
      doubtedBlocks += block.mayBeOn(shelf) ? 1 : 0;
      names.claimed(block, claim);
    }
    return doubtedBlocks - before;
  }

  private int openShelf(StoredBlocks stored) {
    long key = shelfKey(stored.tier(), stored.group());
    return shelves.computeIfAbsent(key, absent -> table.openShelf());
  }

  /** The blocks with these keys are on the shelf; returns how many were doubted. */
  long proven(int shelf, BlockChain prompt, int count) {
    long before = doubtedBlocks;
    for (int i = 0; i < Math.min(count, prompt.blocks()) && doubtedBlocks > 0; i++) {
      if (prove(prompt.blockKey(i), shelf) && counting == CopyCounting.PER_COPY) {
        names.known(prompt.blockKey(i)).forEach(block -> block.unannounced(shelf));
      }
    }
    return before - doubtedBlocks;
  }

  /** The block is on the shelf, and so are those before it. */
  private void proveBack(@Nullable HeldBlock last, int shelf) {
    HeldBlock block = last != null && last.isNamed() ? last : null;
    while (block != null) {
      prove(block.blockKey, shelf);
      block = names.known(block.parentKey).stream().findFirst().orElse(null);
    }
  }

  private boolean prove(long blockKey, int shelf) {
    Set<HeldBlock> known = names.known(blockKey);
    boolean proven = known.size() == 1 && known.iterator().next().doubts.contains(shelf);
    if (proven) {
      hold(known.iterator().next(), shelf, true);
    }
    return proven;
  }

  EngineStats stats() {
    return new EngineStats(
        heldBlocks,
        names.namedBlocks(),
        names.orphanBlocks(),
        names.orphansDropped(),
        unknownRemovals,
        names.contradictions(),
        doubtedBlocks);
  }

  /** Asserts I1 to I3 of {@link BlockNames} and the count of held blocks. */
  void checkInvariants() {
    names.checkInvariants();
    long held = blocks.values().stream().mapToLong(block -> block.copies.size()).sum();
    if (held != heldBlocks) {
      throw new AssertionError("held=" + held + " heldBlocks=" + heldBlocks);
    }
    long doubted = blocks.values().stream().mapToLong(block -> block.doubts.size()).sum();
    if (doubted != doubtedBlocks) {
      throw new AssertionError("doubted=" + doubted + " doubtedBlocks=" + doubtedBlocks);
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

  private void hold(HeldBlock block, int shelf, boolean addsCopies) {
    boolean present = block.copies.count(shelf) > 0;
    boolean counts = addsCopies && counting == CopyCounting.PER_COPY && !block.announced(shelf);
    if (!present || counts) {
      block.copies.add(shelf);
    }
    if (block.settle(shelf)) {
      doubtedBlocks--;
    }
    if (!present) {
      heldBlocks++;
      names.shelved(block, shelf);
    }
  }

  private void gone(HeldBlock block, int shelf) {
    heldBlocks--;
    names.unshelved(block, shelf);
    block.announced(shelf);
    forgetUnknown(block);
  }

  private void forgetUnknown(HeldBlock block) {
    if (!block.isKnown()) {
      names.forget(block);
      blocks.remove(block.engineHash);
    }
  }
}
