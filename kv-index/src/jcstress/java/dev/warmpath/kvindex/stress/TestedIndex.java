package dev.warmpath.kvindex.stress;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.Arrays;
import java.util.List;

/**
 * The index under test and short ways to write and ask it, in blocks of one token.
 *
 * <p>The block number {@code i} of a prompt has the engine hash {@code first + i}.
 *
 * <p>Single writer, many readers.
 */
final class TestedIndex {

  static final ChainSpace SPACE = new ChainSpace("m", 1, 0);
  static final ChainSpace OTHER_SPACE = new ChainSpace("n", 1, 0);

  private final RunKvIndex index = new RunKvIndex(new IndexLimits(16, Long.MAX_VALUE), 1);

  private TestedIndex() {}

  /** An index with so many engines that hold nothing. */
  static TestedIndex create(int engines) {
    TestedIndex tested = new TestedIndex();
    for (int i = 0; i < engines; i++) {
      tested.addEngine(0);
    }
    return tested;
  }

  /** The prompt of so many blocks with these local hashes; the last one repeats. */
  static BlockChain prompt(ChainSpace space, int blocks, long... localHashes) {
    long[] all = Arrays.copyOf(localHashes, blocks);
    if (blocks > localHashes.length) {
      Arrays.fill(all, localHashes.length, blocks, localHashes[localHashes.length - 1]);
    }
    return BlockChain.ofLocalHashes(space, all);
  }

  /** Adds an engine that computes the last so many blocks of each hit again. */
  int addEngine(int droppedBlocks) {
    int slot = index.addEngine(CopyCounting.PER_COPY);
    CacheGroup full = new CacheGroup(0, Kind.FULL_ATTENTION, 1, 0);
    index.layout(slot, new CacheLayout(List.of(full), 0, droppedBlocks));
    return slot;
  }

  void removeEngine(int slot) {
    index.removeEngine(slot);
  }

  void clear(int slot) {
    index.cleared(slot);
  }

  /** Stores blocks {@code from … to − 1} of a prompt on the GPU in one event. */
  void store(int slot, BlockChain prompt, long first, int from, int to) {
    store(slot, StorageTier.GPU, prompt, first, from, to);
  }

  void store(int slot, StorageTier tier, BlockChain prompt, long first, int from, int to) {
    StoredBlocks blocks = new StoredBlocks();
    if (from == 0) {
      blocks.atRoot(tier, 0, prompt.space().rootKey());
    } else {
      blocks.behind(tier, 0, first + from - 1);
    }
    for (int i = from; i < to; i++) {
      blocks.add(first + i, prompt.localHash(i));
    }
    index.stored(slot, blocks);
  }

  /** Stores one block behind another. */
  void storeBehind(int slot, long parent, long hash, long localHash) {
    index.stored(slot, new StoredBlocks().behind(StorageTier.GPU, 0, parent).add(hash, localHash));
  }

  /** Drops blocks {@code from … to − 1} in one event, last one first. */
  void drop(int slot, long first, int from, int to) {
    RemovedBlocks blocks = new RemovedBlocks().from(StorageTier.GPU, 0);
    for (int i = to - 1; i >= from; i--) {
      blocks.add(first + i);
    }
    index.removed(slot, blocks);
  }

  /** What each engine reuses of the prompt, in blocks; asks again while the answer is silence. */
  PrefixMatches ask(BlockChain prompt) {
    PrefixMatches matches = new PrefixMatches();
    long silences;
    do {
      silences = index.unansweredQueries();
      index.match(prompt, matches);
    } while (index.unansweredQueries() > silences);
    return matches;
  }
}
