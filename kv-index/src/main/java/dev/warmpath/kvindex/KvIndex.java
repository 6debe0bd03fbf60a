package dev.warmpath.kvindex;

import dev.warmpath.kvindex.block.BlockChain;

/**
 * Who holds which block, exactly.
 *
 * <p>The contract is <em>precise or silent</em>: after any sequence of calls an engine is credited
 * with a prefix only if it holds every block that it needs to reuse that prefix. Less may be
 * credited for a counted reason (a store whose parent is unknown, a block without a name); {@link
 * #stats(int)} says how much waits.
 *
 * <p>What an engine holds: each (storage tier, group, engine hash) with at least one copy. Each
 * stored block adds a copy, each removed one takes a copy away, the removal of a block that is not
 * held is counted and ignored. A named store ties the engine hash to a block key; the tie lasts as
 * long as the engine holds the hash in any tier or group. A named store whose parent's key is
 * unknown waits as an orphan and is adopted when the parent is named.
 *
 * <p>If a second store names a held engine hash differently, nobody can tell the copies apart any
 * more: the hash loses its name until no copy of it is held, and so does each block stored or
 * waiting behind it meanwhile. A named block is named differently if its key would be another; if
 * the second store's parent has no name, if its local hash is another. A waiting block is named
 * differently if its parent or its local hash is another.
 *
 * <p>Single writer, many readers: the write methods belong to one thread at a time, {@link #match}
 * and the statistics to any.
 */
public interface KvIndex {

  /** Takes a free slot for an engine that holds nothing yet; slots are small, dense and reused. */
  int addEngine(CopyCounting counting);

  /** Forgets everything about the engine and frees its slot. */
  void removeEngine(int slot);

  /** Sets how the engine turns held blocks into hits; until then it is credited with nothing. */
  void layout(int slot, CacheLayout layout);

  /** The engine stored these blocks. The argument is read, not kept. */
  void stored(int slot, StoredBlocks blocks);

  /** The engine dropped one copy of each of these blocks. The argument is read, not kept. */
  void removed(int slot, RemovedBlocks blocks);

  /** The engine holds nothing any more, in no tier. Its layout stays. */
  void cleared(int slot);

  /** Fills {@code matches} with what each engine would reuse of {@code prompt}. */
  void match(BlockChain prompt, PrefixMatches matches);

  /** What is kept for one engine. */
  EngineStats stats(int slot);

  /** What is kept for all engines together. */
  default IndexTotals totals() {
    return IndexTotals.NONE;
  }

  /**
   * What the index keeps for one engine.
   *
   * @param heldBlocks held (tier, group, engine hash) triples
   * @param namedBlocks of these, the ones whose block key is known
   * @param orphanBlocks engine hashes that wait for their parent's name
   * @param orphansDropped orphans given up for lack of room, since the engine was added
   * @param unknownRemovals removals of blocks that were not held, since the engine was added
   * @param contradictions blocks left without a name because stores disagreed about them or about a
   *     block before them, since the engine was added
   */
  record EngineStats(
      long heldBlocks,
      long namedBlocks,
      long orphanBlocks,
      long orphansDropped,
      long unknownRemovals,
      long contradictions) {}
}
