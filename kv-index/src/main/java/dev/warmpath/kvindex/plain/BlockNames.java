package dev.warmpath.kvindex.plain;

import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.plain.HeldBlock.Claim;
import dev.warmpath.kvindex.plain.HeldBlock.Naming;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The names of one engine's blocks: turns what stores claim into block keys, now or when the parent
 * is named, and lists every named block in the {@link HolderTable}.
 *
 * <p>Single writer, many readers, under the lock of the index.
 */
final class BlockNames {

  /*
   * A block's life, from its first copy on any shelf to its last:
   *
   *   UNNAMED ──claim, parent named────▶ NAMED ─────────┐
   *     │  ▲                               ▲            │ a claim that differs,
   *     │  └─no room─┐             parent named         │ or a doubtful parent
   *     ▼            │                     │            ▼
   *   claim, parent unknown ──────────▶ ORPHAN ─────▶ DOUBTFUL
   *
   * I1  a block is known while it is on a shelf, or doubted on one
   * I2  the table lists (key, shelf) once for each NAMED block on the shelf
   * I3  the orphans are exactly the ORPHAN blocks, none of them behind a NAMED or DOUBTFUL one
   */

  private final Map<Long, HeldBlock> blocks;
  private final HolderTable table;
  private final int maxOrphans;
  private final Orphans orphans = new Orphans();
  private final Map<Long, Set<HeldBlock>> byKey = new HashMap<>();
  private long namedBlocks;
  private long orphansDropped;
  private long contradictions;

  /**
   * @param blocks all blocks of the engine by their engine hash, kept by the engine
   */
  BlockNames(Map<Long, HeldBlock> blocks, HolderTable table, int maxOrphans) {
    this.blocks = blocks;
    this.table = table;
    this.maxOrphans = maxOrphans;
  }

  /** A store says what the block is. */
  void claimed(HeldBlock block, Claim claim) {
    if (block.naming == Naming.UNNAMED) {
      block.claim = claim;
      settle(block);
      settleChildren(block);
      dropOldestOrphan();
    } else if (block.naming != Naming.DOUBTFUL && contradicts(block, claim)) {
      doubt(block);
      settleChildren(block);
    }
  }

  /** Whether nothing that was heard says otherwise, and the block can have its name at once. */
  boolean allows(long engineHash, Claim claim) {
    HeldBlock parent = claim.atRoot() ? null : blocks.get(claim.parent());
    if (!claim.atRoot() && (parent == null || !parent.isNamed())) {
      return false;
    }
    HeldBlock block = blocks.get(engineHash);
    long parentKey = parent == null ? claim.parent() : parent.blockKey;
    long blockKey = BlockHasher.blockKey(parentKey, claim.localHash());
    if (block != null && block.isNamed()) {
      return block.blockKey == blockKey;
    }
    return known(blockKey).isEmpty() && (block == null || block.naming == Naming.UNNAMED);
  }

  /** The block has its first copy on the shelf. */
  void shelved(HeldBlock block, int shelf) {
    if (block.isNamed()) {
      table.put(block.blockKey, shelf);
      namedBlocks++;
    }
  }

  /** The block has no copy on the shelf any more. */
  void unshelved(HeldBlock block, int shelf) {
    if (block.isNamed()) {
      table.drop(block.blockKey, shelf);
      namedBlocks--;
    }
  }

  /** The block is on no shelf any more, and not doubted; blocks that wait for it go on waiting. */
  void forget(HeldBlock block) {
    if (block.naming == Naming.ORPHAN) {
      orphans.remove(block, claimOf(block).parent());
    } else if (block.isNamed()) {
      Set<HeldBlock> same = known(block.blockKey);
      same.remove(block);
      if (same.isEmpty()) {
        byKey.remove(block.blockKey);
      }
    }
  }

  /** No block is on a shelf for sure; what has no name is about to be forgotten. */
  void doubtAll() {
    blocks.values().forEach(this::unshelve);
    orphans.clear();
  }

  /** The blocks of this name: by honest engines one, or none. */
  Set<HeldBlock> known(long blockKey) {
    return byKey.getOrDefault(blockKey, Set.of());
  }

  /** All blocks are about to be forgotten; the counters stay. */
  void clear() {
    doubtAll();
    byKey.clear();
  }

  long namedBlocks() {
    return namedBlocks;
  }

  long orphanBlocks() {
    return orphans.size();
  }

  long orphansDropped() {
    return orphansDropped;
  }

  long contradictions() {
    return contradictions;
  }

  /** Asserts I1 to I3. */
  void checkInvariants() {
    for (HeldBlock block : blocks.values()) {
      check(block.isKnown(), "I1", block);
      check(!block.isNamed() || isListed(block), "I2", block);
      check((block.naming == Naming.ORPHAN) == orphans.contains(block), "I3", block);
      check(block.naming != Naming.ORPHAN || !hasSettledParent(block), "I3", block);
    }
  }

  /** Named blocks are compared by key, or by local hash where the claim's parent has no key. */
  private boolean contradicts(HeldBlock block, Claim claim) {
    if (!block.isNamed()) {
      return !claim.equals(block.claim);
    }
    HeldBlock parent = claim.atRoot() ? null : blocks.get(claim.parent());
    if (!claim.atRoot() && (parent == null || !parent.isNamed())) {
      return claim.localHash() != claimOf(block).localHash();
    }
    long parentKey = parent == null ? claim.parent() : parent.blockKey;
    return BlockHasher.blockKey(parentKey, claim.localHash()) != block.blockKey;
  }

  private void settle(HeldBlock block) {
    Claim claim = claimOf(block);
    HeldBlock parent = claim.atRoot() ? null : blocks.get(claim.parent());
    if (claim.atRoot()) {
      name(block, claim.parent());
    } else if (parent != null && parent.isNamed()) {
      name(block, parent.blockKey);
    } else if (parent != null && parent.naming == Naming.DOUBTFUL) {
      doubt(block);
    } else {
      block.naming = Naming.ORPHAN;
      orphans.add(block, claim.parent());
    }
  }

  /** Settles all blocks that wait for this one's name, directly or not, if it has been settled. */
  private void settleChildren(HeldBlock block) {
    ArrayDeque<HeldBlock> settled = new ArrayDeque<>();
    if (block.naming != Naming.ORPHAN) {
      settled.add(block);
    }
    while (!settled.isEmpty()) {
      for (HeldBlock child : orphans.adopt(settled.remove().engineHash)) {
        settle(child);
        settled.add(child);
      }
    }
  }

  private void name(HeldBlock block, long parentKey) {
    block.naming = Naming.NAMED;
    block.parentKey = parentKey;
    block.blockKey = BlockHasher.blockKey(parentKey, claimOf(block).localHash());
    byKey.computeIfAbsent(block.blockKey, first -> new HashSet<>()).add(block);
    for (int i = 0; i < block.copies.size(); i++) {
      shelved(block, block.copies.shelf(i));
    }
  }

  private void doubt(HeldBlock block) {
    unshelve(block);
    forget(block);
    block.naming = Naming.DOUBTFUL;
    block.claim = null;
    block.doubts = Set.of();
    block.unannounced = Set.of();
    contradictions++;
  }

  private void dropOldestOrphan() {
    if (orphans.size() > maxOrphans) {
      HeldBlock oldest = orphans.oldest();
      forget(oldest);
      oldest.naming = Naming.UNNAMED;
      oldest.claim = null;
      orphansDropped++;
    }
  }

  private void unshelve(HeldBlock block) {
    for (int i = 0; i < block.copies.size(); i++) {
      unshelved(block, block.copies.shelf(i));
    }
  }

  private boolean isListed(HeldBlock block) {
    Tally holders = table.holders(block.blockKey);
    return block.copies.size() == 0
        || (holders != null
            && IntStream.range(0, block.copies.size())
                .allMatch(i -> holders.count(block.copies.shelf(i)) > 0));
  }

  private boolean hasSettledParent(HeldBlock orphan) {
    HeldBlock parent = blocks.get(claimOf(orphan).parent());
    return parent != null && (parent.isNamed() || parent.naming == Naming.DOUBTFUL);
  }

  private static Claim claimOf(HeldBlock block) {
    return Objects.requireNonNull(block.claim);
  }

  private static void check(boolean holds, String invariant, HeldBlock block) {
    if (!holds) {
      throw new AssertionError(invariant + " engineHash=" + block.engineHash);
    }
  }
}
