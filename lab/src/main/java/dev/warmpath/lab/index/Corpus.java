package dev.warmpath.lab.index;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A whole corpus in memory, in columns, so that replaying it allocates nothing.
 *
 * <p>Immutable.
 */
final class Corpus {

  /** What a record is. */
  enum Kind {
    STORE,
    REMOVE,
    QUERY,
    CLEAR
  }

  private final String name;
  private final CorpusShape shape;
  private final CorpusColumns columns;
  private final BlockChain[] prompts;
  private final ExactAnswers answers;

  private Corpus(CorpusSource source, CorpusColumns columns, ExactAnswers answers) {
    name = source.name();
    shape = source.shape();
    this.columns = columns;
    prompts = columns.prompts.toArray(BlockChain[]::new);
    this.answers = answers;
  }

  /** Reads all of {@code source}. */
  static Corpus of(CorpusSource source) throws IOException {
    CorpusColumns columns = new CorpusColumns(source.shape());
    ExactAnswers answers = source.feed(columns);
    columns.trim();
    return new Corpus(source, columns, answers);
  }

  String name() {
    return name;
  }

  CorpusShape shape() {
    return shape;
  }

  /** What an exact index answers. */
  ExactAnswers answers() {
    return answers;
  }

  /** Number of workers: the highest one's number plus one. */
  int workers() {
    return columns.workers;
  }

  /** Number of records, queries included. */
  int records() {
    return columns.size;
  }

  /** Number of records that are no queries. */
  int events() {
    return columns.size - prompts.length;
  }

  /** Blocks in all store and remove records. */
  long eventBlocks() {
    return columns.storedBlocks + columns.removedBlocks;
  }

  int queries() {
    return prompts.length;
  }

  /** Blocks in all queries. */
  long queryBlocks() {
    return columns.queryBlocks;
  }

  Kind kind(int record) {
    return columns.kinds[record];
  }

  int worker(int record) {
    return columns.workerOf[record];
  }

  /** Blocks of a store or remove record. */
  int blocks(int record) {
    return columns.counts[record];
  }

  /** The prompt of a query record. */
  BlockChain promptOf(int record) {
    return prompts[columns.starts[record]];
  }

  /** The number of a query record among all queries. */
  int queryOf(int record) {
    return columns.starts[record];
  }

  /** The prompt of the query with this number. */
  BlockChain prompt(int query) {
    return prompts[query];
  }

  /** Fills {@code blocks} with a store record. */
  void fill(int record, StoredBlocks blocks) {
    int group = columns.groups[record];
    if (columns.atRoot[record]) {
      blocks.atRoot(StorageTier.GPU, group, columns.parents[record]);
    } else {
      blocks.behind(StorageTier.GPU, group, columns.parents[record]);
    }
    blocks.addAll(columns.hashes, columns.starts[record], columns.counts[record]);
  }

  /** Fills {@code blocks} with a remove record. */
  void fill(int record, RemovedBlocks blocks) {
    blocks
        .from(StorageTier.GPU, columns.groups[record])
        .addAll(columns.hashes, columns.starts[record], columns.counts[record]);
  }

  /** Whether the last block of a store record has the local hash of the last one of a prompt. */
  boolean endsLike(int record, BlockChain prompt) {
    int count = columns.counts[record];
    return count > 0
        && prompt.blocks() > 0
        && columns.hashes[columns.starts[record] + 2 * count - 1]
            == prompt.localHash(prompt.blocks() - 1);
  }

  /**
   * The records of a corpus in growing columns.
   *
   * <p>A store's engine hashes and then its local hashes, or a removal's engine hashes, stand in
   * {@code hashes} from {@code starts[record]} on; a query's start is its number.
   *
   * <p>Confined to the thread that feeds it.
   */
  static final class CorpusColumns implements CorpusSink {

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

  /**
   * Where a corpus comes from: a file or a generator. Feeds the same records each time.
   *
   * <p>Immutable.
   */
  interface CorpusSource {

    /** For reports. */
    String name();

    /** What the engines have in common. */
    CorpusShape shape();

    /**
     * Hands all records to {@code sink} and returns what an exact index answers to the queries,
     * which was worked out without an index.
     */
    ExactAnswers feed(CorpusSink sink) throws IOException;
  }
}
