package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;

/**
 * What one engine may hold: what it held before events were lost, and names that were computed.
 *
 * <p>Once names were computed, answers prove nothing until all doubts have ended. The engine itself
 * has said nothing of those blocks: had the router read a prompt wrongly, an answer would seem to
 * prove blocks that never were, and no removal would ever come. A store does prove them, since it
 * names its parent by a hash that no other tokens have.
 *
 * <p>Confined to the writer.
 */
final class DoubtRules {

  /** Bound on computed names of an engine, in addition to the blocks that it holds. */
  static final int MOST_RECALLED = 65_536;

  private final KvIndex index;
  private final int slot;
  private final StreamCounters counters;
  private boolean any;
  private boolean recalled;

  DoubtRules(KvIndex index, int slot, StreamCounters counters) {
    this.index = index;
    this.slot = slot;
    this.counters = counters;
  }

  /** Goes on with what the index has kept. */
  void restore(boolean wereRecalled) {
    any = blocks() > 0;
    recalled = any && wereRecalled;
  }

  /** Whether something is doubted. */
  boolean any() {
    return any;
  }

  /** Whether names that were computed may be among it. */
  boolean recalled() {
    return recalled;
  }

  long blocks() {
    return index.stats(slot).doubtedBlocks();
  }

  /** All has been forgotten. */
  void end() {
    any = false;
    recalled = false;
  }

  /** Removals may have been lost; returns how many blocks are doubted that were held. */
  long doubt() {
    long doubted = index.doubted(slot);
    counters.add(StreamCounter.DOUBTED_BLOCKS, doubted);
    left(blocks());
    return doubted;
  }

  /** Stores blocks, which may show that others are there. */
  void store(StoredBlocks blocks) {
    long before = any ? blocks() : 0;
    index.stored(slot, blocks);
    if (any) {
      long after = blocks();
      counters.add(StreamCounter.PROVEN_BLOCKS, before - after);
      left(after);
    }
  }

  /** The engine was seen to reuse the first blocks of a prompt, since the last doubt. */
  void reused(BlockChain prompt, int group, int blocks) {
    if (!recalled) {
      long proven = index.proven(slot, StorageTier.GPU, group, prompt, blocks);
      counters.add(StreamCounter.PROVEN_BLOCKS, proven);
    }
  }

  /**
   * Names were computed.
   *
   * @param most so many blocks may be doubted
   */
  void recall(StoredBlocks names, long most) {
    if (blocks() + names.count() > most) {
      counters.add(StreamCounter.RECALLS_SKIPPED);
      return;
    }
    long more = index.recalled(slot, names);
    counters.add(StreamCounter.RECALLED_BLOCKS, more);
    any |= more > 0;
    recalled |= more > 0;
  }

  private void left(long blocks) {
    any = blocks > 0;
    recalled &= any;
  }
}
