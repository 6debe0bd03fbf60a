package dev.warmpath.lab.index;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.lab.index.Corpus.Kind;

/**
 * Applies the records of a corpus to an index that is empty at first; each worker is an engine.
 *
 * <p>Copying a record into the reused arguments is part of applying it.
 *
 * <p>Single writer.
 */
final class Replay {

  private final KvIndex index;
  private final Corpus corpus;
  private final int[] slots;
  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks removed = new RemovedBlocks();

  Replay(KvIndex index, Corpus corpus) {
    this.index = index;
    this.corpus = corpus;
    slots = new int[corpus.workers()];
    for (int worker = 0; worker < slots.length; worker++) {
      slots[worker] = index.addEngine(CopyCounting.PER_COPY);
      index.layout(slots[worker], corpus.shape().layout());
    }
  }

  KvIndex index() {
    return index;
  }

  /** The engine slot of a worker. */
  int slot(int worker) {
    return slots[worker];
  }

  /** Applies the records from {@code begin} to before {@code end}; queries change nothing. */
  void apply(int begin, int end) {
    for (int record = begin; record < end; record++) {
      apply(record, corpus.kind(record));
    }
  }

  private void apply(int record, Kind kind) {
    if (kind == Kind.STORE) {
      corpus.fill(record, stored);
      index.stored(slots[corpus.worker(record)], stored);
    } else if (kind == Kind.REMOVE) {
      corpus.fill(record, removed);
      index.removed(slots[corpus.worker(record)], removed);
    } else if (kind == Kind.CLEAR) {
      index.cleared(slots[corpus.worker(record)]);
    }
  }
}
