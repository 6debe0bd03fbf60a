package dev.warmpath.lab.index;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.simulator.engine.BlockNames;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.CachedSequence;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * An engine whose changes become records: a store for what a step commits, and before it the
 * removals of what the step evicts, together or one by one.
 *
 * <p>It may lose blocks that its cache keeps: they are recorded as removed, and as stored again
 * when a prompt wants them.
 *
 * <p>Single writer.
 */
final class CorpusEngine {

  private final int worker;
  private final Recording recording;
  private final CorpusSink sink;
  private final SerialEngine engine;
  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks[] removed;
  private final Set<Long> lost = new HashSet<>();

  /**
   * How changes become records.
   *
   * @param rootKey of the index's chain space
   * @param singleRemovals whether each evicted block has a record of its own, as vLLM does it
   */
  record Recording(HashNames hashes, long rootKey, boolean singleRemovals) {}

  /** One with an empty cache of {@code capacityBlocks}; its records go to {@code sink}. */
  CorpusEngine(
      int worker,
      List<CacheGroup> groups,
      int capacityBlocks,
      Recording recording,
      CorpusSink sink) {
    this.worker = worker;
    this.recording = recording;
    this.sink = sink;
    removed = new RemovedBlocks[groups.size()];
    for (int group = 0; group < removed.length; group++) {
      removed[group] = new RemovedBlocks().from(StorageTier.GPU, group);
    }
    engine = new SerialEngine(groups, capacityBlocks, new Changes());
  }

  /** Leading blocks of the prompt that it would reuse now. */
  int reusable(long[] prompt) {
    int blocks = engine.reusable(prompt);
    for (int i = 0; i < blocks && !lost.isEmpty(); i++) {
      if (lost.contains(prompt[i])) {
        return i;
      }
    }
    return blocks;
  }

  /** (group, block) pairs that it holds by its records. */
  int heldBlocks() {
    return engine.heldBlocks() - lost.size();
  }

  /** Records the prompt as a query, then what serving it changes. */
  void serve(long[] prompt) {
    long[] hashes = new long[prompt.length];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = recording.hashes.localHash(prompt[i]);
    }
    sink.query(worker, hashes, hashes.length);
    restore(prompt);
    engine.serve(prompt);
    flush();
  }

  /** Loses a share of the prompt's blocks, anywhere, each in a record of its own. */
  void lose(long[] prompt, double share, Random random) {
    for (long name : prompt) {
      if (random.nextDouble() < share && lost.add(name)) {
        remove(0, name);
        flush();
      }
    }
  }

  /** Records that blocks {@code [from, to)} of a prompt are stored in one group. */
  void store(int group, BlockNames names, int from, int to) {
    if (from == 0) {
      stored.atRoot(StorageTier.GPU, group, recording.rootKey);
    } else {
      stored.behind(StorageTier.GPU, group, engineHash(names.of(from - 1)));
    }
    for (int block = from; block < to; block++) {
      long name = names.of(block);
      stored.add(engineHash(name), recording.hashes.localHash(name));
    }
    sink.stored(worker, stored);
  }

  private void restore(long[] prompt) {
    int from = 0;
    while (!lost.isEmpty() && from < prompt.length) {
      int to = from;
      while (to < prompt.length && lost.remove(prompt[to])) {
        to++;
      }
      if (to > from) {
        store(0, block -> prompt[block], from, to);
      }
      from = to + 1;
    }
  }

  private void remove(int group, long name) {
    removed[group].add(engineHash(name));
    if (recording.singleRemovals) {
      flush();
    }
  }

  private void flush() {
    for (int group = 0; group < removed.length; group++) {
      if (removed[group].count() > 0) {
        sink.removed(worker, removed[group]);
        removed[group].from(StorageTier.GPU, group);
      }
    }
  }

  private long engineHash(long name) {
    return recording.hashes.engineHash(worker, name);
  }

  private final class Changes implements CacheListener {

    @Override
    public void stored(
        CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock, int heldFrom) {
      flush();
      if (heldFrom < toBlock) {
        store(group.index(), sequence::name, heldFrom, toBlock);
      }
    }

    @Override
    public void removed(int group, long blockName) {
      if (!lost.remove(blockName)) {
        remove(group, blockName);
      }
    }

    @Override
    public void cleared() {
      lost.clear();
      sink.cleared(worker);
    }
  }
}
