package dev.warmpath.kvindex.stopped;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * A scene that is written as engines write: a block is a token that is its local hash and its
 * engine hash. The question is for the blocks 0, 1, 2 … of a space.
 *
 * <p>Confined to one thread.
 */
abstract class WrittenScene implements Scene {

  static final ChainSpace ASKED = new ChainSpace("m", 1, 0);
  static final ChainSpace OTHER = new ChainSpace("n", 1, 0);
  static final ChainSpace NEW = new ChainSpace("o", 1, 0);

  static final int BLOCKS = 20;

  private static final int ENGINES = 4;

  private final KvIndex index;
  private final PrefixMatches matches = new PrefixMatches();
  private final BlockChain question =
      BlockChain.ofLocalHashes(ASKED, LongStream.range(0, BLOCKS).toArray());

  /** Four engines, which all hold a block of another space. */
  WrittenScene(KvIndex index) {
    this.index = index;
    for (int i = 0; i < ENGINES; i++) {
      addEngine(0);
      store(i, at(OTHER), -1, 0);
    }
  }

  @Override
  public List<Integer> ask() {
    index.match(question, matches);
    return IntStream.range(0, ENGINES).map(matches::tokens).boxed().toList();
  }

  /** Adds an engine that computes the last so many blocks of each hit again. */
  final void addEngine(int droppedBlocks) {
    CacheGroup full = new CacheGroup(0, Kind.FULL_ATTENTION, 1, 0);
    int slot = index.addEngine(CopyCounting.PRESENCE);
    index.layout(slot, new CacheLayout(List.of(full), 0, droppedBlocks));
  }

  final void removeEngine(int slot) {
    index.removeEngine(slot);
  }

  final StoredBlocks at(ChainSpace space) {
    return new StoredBlocks().atRoot(StorageTier.GPU, 0, space.rootKey());
  }

  final StoredBlocks behind(long parent) {
    return new StoredBlocks().behind(StorageTier.GPU, 0, parent);
  }

  /** Stores the blocks {@code from … to − 1} there. */
  final void store(int slot, StoredBlocks there, long from, long to) {
    LongStream.range(from, to).forEach(block -> there.add(block, block));
    index.stored(slot, there);
  }

  /** Drops the blocks {@code from … to − 1}, last one first. */
  final void drop(int slot, long from, long to) {
    RemovedBlocks blocks = new RemovedBlocks().from(StorageTier.GPU, 0);
    for (long block = to - 1; block >= from; block--) {
      blocks.add(block);
    }
    index.removed(slot, blocks);
  }
}
