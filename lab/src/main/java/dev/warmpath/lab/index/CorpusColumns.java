package dev.warmpath.lab.index;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.lab.index.Corpus.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The records of a corpus in growing columns.
 *
 * <p>A store's engine hashes and then its local hashes, or a removal's engine hashes, stand in
 * {@code hashes} from {@code starts[record]} on; a query's start is its number.
 *
 * <p>Confined to the thread that feeds it.
 */
final class CorpusColumns implements CorpusSink {

  private final CorpusShape shape;
  Kind[] kinds = new Kind[1024];
  int[] workerOf = new int[1024];
  int[] starts = new int[1024];
  int[] counts = new int[1024];
  byte[] groups = new byte[1024];
  boolean[] atRoot = new boolean[1024];
  long[] parents = new long[1024];
  long[] hashes = new long[1 << 16];
  final List<BlockChain> prompts = new ArrayList<>();
  int size;
  int workers;
  long storedBlocks;
  long removedBlocks;
  long queryBlocks;
  private int used;

  CorpusColumns(CorpusShape shape) {
    this.shape = shape;
  }

  @Override
  public void stored(int worker, StoredBlocks blocks) {
    int record = add(Kind.STORE, worker, used, blocks.count());
    groups[record] = (byte) blocks.group();
    atRoot[record] = blocks.atRoot();
    parents[record] = blocks.parent();
    append(blocks.engineHashes(), blocks.count());
    append(blocks.localHashes(), blocks.count());
    storedBlocks += blocks.count();
  }

  @Override
  public void removed(int worker, RemovedBlocks blocks) {
    int record = add(Kind.REMOVE, worker, used, blocks.count());
    groups[record] = (byte) blocks.group();
    append(blocks.engineHashes(), blocks.count());
    removedBlocks += blocks.count();
  }

  @Override
  public void cleared(int worker) {
    add(Kind.CLEAR, worker, used, 0);
  }

  @Override
  public void query(int worker, long[] localHashes, int count) {
    add(Kind.QUERY, worker, prompts.size(), 0);
    long[] prompt = Arrays.copyOf(localHashes, count);
    prompts.add(BlockChain.ofLocalHashes(shape.space(), prompt));
    queryBlocks += count;
  }

  /** Gives unused room back. */
  void trim() {
    resize(size);
    hashes = Arrays.copyOf(hashes, used);
  }

  private int add(Kind kind, int worker, int start, int count) {
    if (size == kinds.length) {
      resize(2 * size);
    }
    kinds[size] = kind;
    workerOf[size] = worker;
    starts[size] = start;
    counts[size] = count;
    workers = Math.max(workers, worker + 1);
    return size++;
  }

  private void append(long[] added, int count) {
    if (count > hashes.length - used) {
      long room = Math.min(Integer.MAX_VALUE - 8L, Math.max(2L * hashes.length, used + count));
      hashes = Arrays.copyOf(hashes, (int) room);
    }
    System.arraycopy(added, 0, hashes, used, count);
    used += count;
  }

  private void resize(int room) {
    kinds = Arrays.copyOf(kinds, room);
    workerOf = Arrays.copyOf(workerOf, room);
    starts = Arrays.copyOf(starts, room);
    counts = Arrays.copyOf(counts, room);
    groups = Arrays.copyOf(groups, room);
    atRoot = Arrays.copyOf(atRoot, room);
    parents = Arrays.copyOf(parents, room);
  }
}
