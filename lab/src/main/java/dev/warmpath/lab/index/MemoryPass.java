package dev.warmpath.lab.index;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.lab.bench.Meters;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * What an index occupies and allocates.
 *
 * <p>The corpus stays on the heap before and after, so that the difference is the index alone.
 *
 * <p>Confined to the measuring thread.
 */
final class MemoryPass {

  /**
   * The figures.
   *
   * @param heapBytes reachable bytes with the full index minus those without it
   * @param accountedBytes what the index itself says, if it does
   * @param bytesPerEvent allocated by the writer in the second half of the records
   * @param bytesPerQuery allocated by the reader when it asks all queries a second time
   */
  record Figures(
      long heapBytes, OptionalLong accountedBytes, double bytesPerEvent, double bytesPerQuery) {}

  private final Meters meters;

  MemoryPass(Meters meters) {
    this.meters = meters;
  }

  Figures run(Supplier<KvIndex> indexes, Corpus corpus) {
    long empty = meters.liveHeapBytes();
    KvIndex index = indexes.get();
    double perEvent = apply(new Replay(index, corpus), corpus);
    long heap = meters.liveHeapBytes() - empty;
    ask(index, corpus);
    double perQuery = (double) ask(index, corpus) / Math.max(1, corpus.queries());
    return new Figures(heap, accountedBytes(index), perEvent, perQuery);
  }

  private double apply(Replay replay, Corpus corpus) {
    int half = corpus.records() / 2;
    replay.apply(0, half);
    long before = meters.allocatedBytes();
    replay.apply(half, corpus.records());
    return (double) (meters.allocatedBytes() - before) / Math.max(1, events(corpus, half));
  }

  private static OptionalLong accountedBytes(KvIndex index) {
    return index instanceof RunKvIndex runs ? OptionalLong.of(runs.bytes()) : OptionalLong.empty();
  }

  private static int events(Corpus corpus, int from) {
    int events = 0;
    for (int record = from; record < corpus.records(); record++) {
      events += corpus.kind(record) == Corpus.Kind.QUERY ? 0 : 1;
    }
    return events;
  }

  private long ask(KvIndex index, Corpus corpus) {
    QueryRunner asker = new QueryRunner(meters, corpus.shape().blockTokens(), corpus.queries());
    long before = meters.allocatedBytes();
    for (int query = 0; query < corpus.queries(); query++) {
      asker.ask(index, corpus.prompt(query));
    }
    return meters.allocatedBytes() - before;
  }
}
