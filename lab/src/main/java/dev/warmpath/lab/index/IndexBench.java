package dev.warmpath.lab.index;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.lab.bench.Meters;
import dev.warmpath.lab.bench.Percentiles;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Measures one kind of index on corpora.
 *
 * <p>Confined to the measuring thread.
 */
final class IndexBench {

  private static final int FINAL_PASSES = 3;

  private final Supplier<KvIndex> indexes;
  private final Consumer<String> progress;
  private final Meters meters = new Meters();
  private final WriterThread writer;

  /**
   * @param indexes makes empty indexes of that kind
   * @param threads makes the writer's thread
   * @param progress is told what is going on
   */
  IndexBench(Supplier<KvIndex> indexes, ThreadFactory threads, Consumer<String> progress) {
    this.indexes = indexes;
    this.progress = progress;
    writer = new WriterThread(threads);
  }

  /** Runs everything on {@code corpora} until {@code nanos} have passed; nothing for none. */
  void warmUp(List<Corpus> corpora, long nanos) throws InterruptedException {
    long begin = meters.nanos();
    while (meters.nanos() - begin < nanos) {
      for (Corpus corpus : corpora) {
        round(corpus);
      }
    }
  }

  /** Measures {@code rounds} rounds and what the index occupies. */
  BenchReport run(Corpus corpus, int rounds) throws InterruptedException {
    List<Round> measured = new ArrayList<>();
    for (int i = 1; i <= rounds; i++) {
      measured.add(round(corpus));
      progress.accept("round %d of %d".formatted(i, rounds));
    }
    MemoryPass.Figures memory = new MemoryPass(meters).run(indexes, corpus);
    return new BenchReport(corpus, measured, memory, meters.nanosPerReading());
  }

  /** One round. */
  Round round(Corpus corpus) throws InterruptedException {
    Replay bulk = replay(corpus);
    BulkPass.Took took = new BulkPass(meters, writer).run(bulk, corpus);
    boolean exact = true;
    QueryRunner atEnd = askAll(bulk.index(), corpus);
    for (int pass = 1; pass < FINAL_PASSES; pass++) {
      exact &= isExact(atEnd, corpus);
      atEnd = askAll(bulk.index(), corpus);
    }
    exact &= isExact(atEnd, corpus);
    QueryRunner between = new InterleavedPass(meters, writer).run(replay(corpus), corpus);
    exact &= matches("interleaved", between.sums(), corpus.answers().interleaved());
    Replay busy = replay(corpus);
    Percentiles whileBusy = new BusyPass(meters, writer).run(busy, corpus);
    exact &= isExact(askAll(busy.index(), corpus), corpus);
    KeepUpPass keepUp = new KeepUpPass(meters, replay(corpus), corpus, took);
    return new Round(
        exact, took, atEnd.percentiles(), between.percentiles(), whileBusy, keepUp.run(writer));
  }

  private Replay replay(Corpus corpus) {
    return new Replay(indexes.get(), corpus);
  }

  private boolean matches(String when, Sums answered, Sums exact) {
    if (!answered.equals(exact)) {
      progress.accept("%s queries: answered %s, exact is %s".formatted(when, answered, exact));
    }
    return answered.equals(exact);
  }

  private QueryRunner askAll(KvIndex index, Corpus corpus) {
    QueryRunner asker = new QueryRunner(meters, corpus.shape().blockTokens(), corpus.queries());
    for (int query = 0; query < corpus.queries(); query++) {
      asker.ask(index, corpus.prompt(query));
    }
    return asker;
  }

  private boolean isExact(QueryRunner atEnd, Corpus corpus) {
    return matches("final", atEnd.sums(), corpus.answers().atEnd());
  }
}
