package dev.warmpath.simulator.bench.generate.fleet;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.simulator.bench.corpus.CorpusSink;

/**
 * Turns block numbers into the records of a corpus.
 *
 * <p>Single writer.
 */
final class EventWriter {

  private final CorpusSink sink;
  private final HashNames names;
  private final long rootKey;
  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks removed = new RemovedBlocks();

  EventWriter(CorpusSink sink, HashNames names, long rootKey) {
    this.sink = sink;
    this.names = names;
    this.rootKey = rootKey;
  }

  void query(int engine, int[] chain) {
    long[] localHashes = new long[chain.length];
    for (int i = 0; i < chain.length; i++) {
      localHashes[i] = names.localHash(chain[i]);
    }
    sink.query(engine, localHashes, chain.length);
  }

  /** The engine stored the blocks of {@code chain} from {@code begin} to before {@code end}. */
  void stored(int engine, int group, int[] chain, int begin, int end) {
    if (begin == 0) {
      stored.atRoot(StorageTier.GPU, group, rootKey);
    } else {
      stored.behind(StorageTier.GPU, group, names.engineHash(engine, chain[begin - 1]));
    }
    for (int i = begin; i < end; i++) {
      stored.add(names.engineHash(engine, chain[i]), names.localHash(chain[i]));
    }
    sink.stored(engine, stored);
  }

  /** The engine dropped these blocks, in one record. */
  void removed(int engine, int group, int... blocks) {
    removed.from(StorageTier.GPU, group);
    for (int block : blocks) {
      removed.add(names.engineHash(engine, block));
    }
    sink.removed(engine, removed);
  }
}
