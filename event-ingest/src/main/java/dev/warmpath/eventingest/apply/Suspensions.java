package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;

/**
 * What one engine may hold and is not credited with: what it held before events were lost, and
 * names that were computed.
 *
 * <p>Once names were computed, answers confirm nothing until nothing is suspended any more. The
 * engine itself has said nothing of those blocks: had the router read a prompt wrongly, an answer
 * would seem to confirm blocks that never were, and no removal would ever come. A store does
 * confirm them, since it names its parent by a hash that no other tokens have.
 *
 * <p>Confined to the writer.
 */
final class Suspensions {

  /** Bound on computed names of an engine, in addition to the blocks that it holds. */
  static final int MOST_COMPUTED = 65_536;

  private final KvIndex index;
  private final int slot;
  private final StreamCounters counters;
  private boolean any;
  private boolean anyComputed;

  Suspensions(KvIndex index, int slot, StreamCounters counters) {
    this.index = index;
    this.slot = slot;
    this.counters = counters;
  }

  /** Goes on with what the index has kept. */
  void restore(boolean wereComputed) {
    any = blocks() > 0;
    anyComputed = any && wereComputed;
  }

  /** Whether something is suspended. */
  boolean any() {
    return any;
  }

  /** Whether names that were computed may be among it. */
  boolean anyComputed() {
    return anyComputed;
  }

  long blocks() {
    return index.stats(slot).suspendedBlocks();
  }

  /** All has been forgotten. */
  void end() {
    any = false;
    anyComputed = false;
  }

  /** Removals may have been lost; returns how many blocks are suspended that were held. */
  long suspend() {
    long suspended = index.suspended(slot);
    counters.add(StreamCounter.SUSPENDED_BLOCKS, suspended);
    left(blocks());
    return suspended;
  }

  /** Stores blocks, which may show that others are there. */
  void store(StoredBlocks blocks) {
    long before = any ? blocks() : 0;
    index.stored(slot, blocks);
    if (any) {
      long after = blocks();
      counters.add(StreamCounter.CONFIRMED_BLOCKS, before - after);
      left(after);
    }
  }

  /** The engine was seen to reuse the first blocks of a prompt, since the last suspension. */
  void reused(BlockChain prompt, int group, int blocks) {
    if (!anyComputed) {
      long confirmed = index.confirmed(slot, StorageTier.GPU, group, prompt, blocks);
      counters.add(StreamCounter.CONFIRMED_BLOCKS, confirmed);
    }
  }

  /**
   * Names were computed.
   *
   * @param most so many blocks may be suspended
   */
  void computed(StoredBlocks names, long most) {
    if (blocks() + names.count() > most) {
      counters.add(StreamCounter.COMPUTATIONS_SKIPPED);
      return;
    }
    long more = index.computed(slot, names);
    counters.add(StreamCounter.COMPUTED_NAMES, more);
    any |= more > 0;
    anyComputed |= more > 0;
  }

  private void left(long blocks) {
    any = blocks > 0;
    anyComputed &= any;
  }
}
