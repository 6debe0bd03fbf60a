package dev.warmpath.simulator.engine;

import dev.warmpath.kvindex.CacheGroup;

/**
 * Receives the changes of one engine's cache, in order, while they happen.
 *
 * <p>Must not call the cache or its engine.
 *
 * <p>Single writer.
 */
public interface CacheListener {

  /**
   * Blocks {@code [fromBlock, toBlock)} of a sequence were committed in one group, each as a copy
   * of its own. The group does not keep those before {@code heldFrom}: they are part of the
   * announced range, but not stored. A sparse group may report one range in up to three parts.
   */
  void stored(CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock, int heldFrom);

  /** One copy of a block was evicted. */
  void removed(int group, long blockName);

  /** The whole cache was emptied, host memory too. */
  void cleared();

  /** Blocks {@code [fromBlock, toBlock)} of a sequence were copied to host memory. */
  default void storedOnHost(
      CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock) {}

  /** A block of a sequence was put into the store that other engines read too. */
  default void storedInStore(CachedSequence sequence, CacheGroup group, int block) {}

  /** The copy of a block in host memory was dropped. */
  default void removedFromHost(int group, long blockName) {}
}
