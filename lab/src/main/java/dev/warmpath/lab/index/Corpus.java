package dev.warmpath.lab.index;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import java.io.IOException;

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
}
