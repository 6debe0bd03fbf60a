package dev.warmpath.kvindex.plain;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.plain.HeldBlock.Claim;
import dev.warmpath.kvindex.plain.HeldBlock.Naming;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * What one engine holds, and the names of what it holds.
 *
 * <p>Writes each named holding through to the {@link HolderTable}.
 *
 * <p>Single writer, many readers, under the lock of the index.
 */
final class Engine {

  /*
   * A block's life, from its first copy on any shelf to its last:
   *
   *   UNNAMED ──claim, parent named──▶ NAMED ◀──parent named── ORPHAN ◀──claim, parent unknown── UNNAMED
   *   any of them ──a claim that differs, or a doubtful parent──▶ DOUBTFUL (until it is gone)
   *   ORPHAN ──no room──▶ UNNAMED
   *
   * I1  a block is in `blocks` while it is on a shelf
   * I2  the table lists (key, shelf) once for each NAMED block on the shelf
   * I3  `orphans` has exactly the blocks that are ORPHAN, none of them behind a NAMED or DOUBTFUL block
   */

  private final CopyCounting counting;
  private final HolderTable table;
  private final int maxOrphans;
  private final Map<Long, Integer> shelves = new HashMap<>();
  private final Map<Long, HeldBlock> blocks = new HashMap<>();
  private final Orphans orphans = new Orphans();
  private CacheLayout layout = new CacheLayout(List.of(), 0, 0);
  private long heldBlocks;
  private long namedBlocks;
  private long orphansDropped;
  private long unknownRemovals;
  private long contradictions;

  Engine(CopyCounting counting, HolderTable table, int maxOrphans) {
    this.counting = counting;
    this.table = table;
    this.maxOrphans = maxOrphans;
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
        claimed(block, claim(stored, i));
      }
    }
  }

  void removed(StorageTier tier, int group, long engineHash) {
    HeldBlock block = blocks.get(engineHash);
    int left = block == null ? -1 : block.copies.take(shelf(tier, group));
    if (block == null || left < 0) {
      unknownRemovals++;
    } else if (left == 0) {
      gone(block, shelf(tier, group));
    }
  }

  /** Forgets all holdings; the layout and the counters stay. */
  void clear() {
    for (HeldBlock block : blocks.values()) {
      unlist(block);
    }
    blocks.clear();
    orphans.clear();
    heldBlocks = 0;
    shelves.values().forEach(table::closeShelf);
    shelves.clear();
  }

  EngineStats stats() {
    return new EngineStats(
        heldBlocks, namedBlocks, orphans.size(), orphansDropped, unknownRemovals, contradictions);
  }

  /** Asserts I1 to I3. */
  void checkInvariants() {
    long held = 0;
    for (HeldBlock block : blocks.values()) {
      held += block.copies.size();
      check(block.copies.size() > 0, "I1", block);
      check(!block.isNamed() || listed(block), "I2", block);
      check(block.naming == Naming.ORPHAN == orphans.contains(block), "I3", block);
      check(block.naming != Naming.ORPHAN || !settledParent(block), "I3", block);
    }
    if (held != heldBlocks) {
      throw new AssertionError("held=" + held + " heldBlocks=" + heldBlocks);
    }
  }

  private boolean listed(HeldBlock block) {
    Tally holders = table.holders(block.blockKey);
    return holders != null
        && IntStream.range(0, block.copies.size())
            .allMatch(i -> holders.count(block.copies.shelf(i)) > 0);
  }

  private boolean settledParent(HeldBlock orphan) {
    HeldBlock parent = blocks.get(Objects.requireNonNull(orphan.claim).parent());
    return parent != null && (parent.isNamed() || parent.naming == Naming.DOUBTFUL);
  }

  private static void check(boolean holds, String invariant, HeldBlock block) {
    if (!holds) {
      throw new AssertionError(invariant + " engineHash=" + block.engineHash);
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
    if (present && counting == CopyCounting.PRESENCE) {
      return;
    }
    block.copies.add(shelf);
    if (!present) {
      heldBlocks++;
      if (block.isNamed()) {
        list(block, shelf);
      }
    }
  }

  private void gone(HeldBlock block, int shelf) {
    heldBlocks--;
    if (block.isNamed()) {
      unlist(block, shelf);
    }
    if (block.copies.size() == 0) {
      leaveOrphans(block);
      blocks.remove(block.engineHash);
    }
  }

  private void claimed(HeldBlock block, Claim claim) {
    if (block.naming == Naming.UNNAMED) {
      block.claim = claim;
      settle(block);
    } else if (block.naming != Naming.DOUBTFUL && !claim.equals(block.claim)) {
      doubt(block);
      settleChildren(block);
    }
  }

  /** Settles a block that has a claim, and then all blocks that wait for its name. */
  private void settle(HeldBlock block) {
    settleOne(block);
    if (block.naming == Naming.ORPHAN) {
      dropOldestOrphan();
    } else {
      settleChildren(block);
    }
  }

  private void settleChildren(HeldBlock block) {
    ArrayDeque<HeldBlock> settled = new ArrayDeque<>();
    settled.add(block);
    while (!settled.isEmpty()) {
      for (HeldBlock child : orphans.adopt(settled.remove().engineHash)) {
        settleOne(child);
        settled.add(child);
      }
    }
  }

  private void settleOne(HeldBlock block) {
    Claim claim = Objects.requireNonNull(block.claim);
    HeldBlock parent = claim.atRoot() ? null : blocks.get(claim.parent());
    if (claim.atRoot()) {
      name(block, BlockHasher.blockKey(claim.parent(), claim.localHash()));
    } else if (parent != null && parent.isNamed()) {
      name(block, BlockHasher.blockKey(parent.blockKey, claim.localHash()));
    } else if (parent != null && parent.naming == Naming.DOUBTFUL) {
      doubt(block);
    } else {
      block.naming = Naming.ORPHAN;
      orphans.add(block, claim.parent());
    }
  }

  private void name(HeldBlock block, long blockKey) {
    block.naming = Naming.NAMED;
    block.blockKey = blockKey;
    for (int i = 0; i < block.copies.size(); i++) {
      list(block, block.copies.shelf(i));
    }
  }

  private void doubt(HeldBlock block) {
    unlist(block);
    leaveOrphans(block);
    block.naming = Naming.DOUBTFUL;
    block.claim = null;
    contradictions++;
  }

  private void dropOldestOrphan() {
    if (orphans.size() > maxOrphans) {
      HeldBlock oldest = orphans.oldest();
      leaveOrphans(oldest);
      oldest.naming = Naming.UNNAMED;
      oldest.claim = null;
      orphansDropped++;
    }
  }

  private void leaveOrphans(HeldBlock block) {
    if (block.naming == Naming.ORPHAN && block.claim != null) {
      orphans.remove(block, block.claim.parent());
    }
  }

  private void list(HeldBlock block, int shelf) {
    table.put(block.blockKey, shelf);
    namedBlocks++;
  }

  private void unlist(HeldBlock block, int shelf) {
    table.drop(block.blockKey, shelf);
    namedBlocks--;
  }

  private void unlist(HeldBlock block) {
    if (block.isNamed()) {
      for (int i = 0; i < block.copies.size(); i++) {
        unlist(block, block.copies.shelf(i));
      }
    }
  }
}
