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
 * waiting behind it meanwhile; where it is suspended it is forgotten. A named block is named
 * differently if its key would be another; if the second store's parent has no name, if its local
 * hash is another. A waiting block is named differently if its parent or its local hash is another.
 *
 * <p>What an engine held before events were lost is <em>suspended</em> ({@link #suspended}): it has
 * its name, but counts for nothing. A removal forgets it. A store on the GPU in a group of full
 * attention <em>confirms</em> the blocks before it, since a request holds all its blocks while it
 * stores one: from the parent back as far as each block is known, those that are suspended on the
 * same shelf are held again, once. A block that the engine knows by two hashes cannot be confirmed:
 * nobody can tell which of them is there.
 *
 * <p>Single writer, many readers: the write methods belong to one thread at a time, {@link #match}
 * and the statistics to any.
 */
public interface KvIndex {

  /** The {@link #blocksOnGpu} of an engine of which nobody can tell. */
  long UNKNOWN = -1;

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

  /**
   * Removals of the engine may have been missed, so nothing that it held is sure any more. Blocks
   * without a name are forgotten. The others keep their names, but nobody is credited with them
   * until they are held again: stored, or confirmed to be there.
   *
   * @return how many blocks are suspended that were held
   */
  long suspended(int slot);

  /**
   * The engine was seen to reuse the first {@code blocks} blocks of a prompt from this tier and
   * group: those of them that are suspended are held.
   *
   * <p>It may have been seen before its last events are heard. A store that is still on its way may
   * be the one by which the block came to be there, so the next store of it adds no copy.
   *
   * @return how many blocks are held again
   */
  long confirmed(int slot, StorageTier tier, int group, BlockChain prompt, int blocks);

  /**
   * These are the names of a prompt's first blocks and the hashes that the engine gives to them,
   * computed and not heard. What the engine holds of them without a name gets its name, what waits
   * for them is adopted, and what is not held on their shelf is suspended there, as if it had been
   * held before events were lost. Nobody is credited with anything that he is not known to hold.
   *
   * <p>Ends at the first block of which something else was heard: another name for the hash,
   * another hash for the name. No room is made for it.
   *
   * @return how many blocks are suspended that were not
   */
  long computed(int slot, StoredBlocks names);

  /**
   * Another engine's names for what this one holds: it stored these blocks and tells their engine
   * hashes alone, which are those of the engine in {@code namer}. Each that this one names is held
   * under the name that it has there, or that it has here already, once; a block that is held here
   * without a name stays so.
   *
   * @param hashes the first {@code count} of these; those for which there is no name, or no room,
   *     are moved to the front, in their order
   * @return how many those are
   */
  int joined(int slot, int namer, StorageTier tier, int group, long[] hashes, int count);

  /** Fills {@code matches} with what each engine would reuse of {@code prompt}. */
  void match(BlockChain prompt, PrefixMatches matches);

  /**
   * For each slot how many blocks with a name no other engine holds, in any tier. Looks at all that
   * is kept, on the caller's thread; what is just being changed may be left out.
   */
  default long[] soleBlocks() {
    return new long[0];
  }

  /** What is kept for one engine. */
  EngineStats stats(int slot);

  /**
   * Blocks that are held on the engine's GPU, of all its groups, copies counted once: as many
   * (tier, group, engine hash) triples. {@link #UNKNOWN} if it has stored anything in slower
   * memory, and for a slot without engine. May be a moment old.
   */
  default long blocksOnGpu(int slot) {
    return UNKNOWN;
  }

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
   * @param suspendedBlocks (tier, group, engine hash) triples that may still be held
   */
  record EngineStats(
      long heldBlocks,
      long namedBlocks,
      long orphanBlocks,
      long orphansDropped,
      long unknownRemovals,
      long contradictions,
      long suspendedBlocks) {}
}
