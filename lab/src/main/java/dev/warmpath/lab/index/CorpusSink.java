package dev.warmpath.lab.index;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;

/**
 * Takes the records of a corpus, in order.
 *
 * <p>Arguments are reused by the caller: an implementation copies what it keeps. Workers are
 * numbered from 0. Confined to the thread that feeds it.
 */
interface CorpusSink {

  /** The worker stored these blocks. */
  void stored(int worker, StoredBlocks blocks);

  /** The worker dropped these blocks. */
  void removed(int worker, RemovedBlocks blocks);

  /** The worker holds nothing any more. */
  void cleared(int worker);

  /** Somebody asks who holds the prompt with these {@code count} local hashes. */
  void query(int worker, long[] localHashes, int count);
}
