package dev.warmpath.lab.index;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.lab.bench.Meters;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.index.Corpus.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
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
    List<BenchReport.Round> measured = new ArrayList<>();
    for (int i = 1; i <= rounds; i++) {
      measured.add(round(corpus));
      progress.accept("round %d of %d".formatted(i, rounds));
    }
    MemoryPass.Figures memory = new MemoryPass(meters).run(indexes, corpus);
    return new BenchReport(corpus, measured, memory, meters.nanosPerReading());
  }

  /** One round. */
  BenchReport.Round round(Corpus corpus) throws InterruptedException {
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
    return new BenchReport.Round(
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

  /**
   * Queries while the writer replays the stream, from the first query on, at full speed.
   *
   * <p>The reader asks for the prompts around the writer's place in the stream, so that it reads
   * what is being changed.
   *
   * <p>Confined to the measuring thread.
   */
  private static final class BusyPass {

    private static final int AROUND = 64;
    private static final int MAX_QUERIES = 1 << 21;

    private final Meters meters;
    private final WriterThread writer;
    private final AtomicInteger passed = new AtomicInteger();

    BusyPass(Meters meters, WriterThread writer) {
      this.meters = meters;
      this.writer = writer;
    }

    Percentiles run(Replay replay, Corpus corpus) throws InterruptedException {
      QueryRunner asker = new QueryRunner(meters, corpus.shape().blockTokens(), MAX_QUERIES);
      int begin = firstQuery(corpus);
      replay.apply(0, begin);
      FutureTask<Boolean> events = writer.start(() -> replay(replay, corpus, begin));
      int asked = 0;
      while (!events.isDone() && corpus.queries() > 0) {
        int query = (passed.get() + asked % AROUND) % corpus.queries();
        if (asked < MAX_QUERIES) {
          asker.ask(replay.index(), corpus.prompt(query));
          asked++;
        }
      }
      WriterThread.result(events);
      return asker.percentiles();
    }

    private static int firstQuery(Corpus corpus) {
      int record = 0;
      while (record < corpus.records() && corpus.kind(record) != Kind.QUERY) {
        record++;
      }
      return record;
    }

    private boolean replay(Replay replay, Corpus corpus, int first) {
      int begin = first;
      for (int record = first; record < corpus.records(); record++) {
        if (corpus.kind(record) == Kind.QUERY) {
          replay.apply(begin, record);
          begin = record + 1;
          passed.lazySet(corpus.queryOf(record));
        }
      }
      replay.apply(begin, corpus.records());
      return true;
    }
  }

  /**
   * Each query right after the events before it, which another thread applied: what the query needs
   * is in the other core's caches or in none.
   *
   * <p>Writer and reader take turns; the writer goes on when the reader has its answer.
   *
   * <p>Confined to the measuring thread.
   */
  private static final class InterleavedPass {

    private static final int SPINS = 10_000;

    private final Meters meters;
    private final WriterThread writer;
    private volatile int applied;
    private volatile int answered;

    InterleavedPass(Meters meters, WriterThread writer) {
      this.meters = meters;
      this.writer = writer;
    }

    QueryRunner run(Replay replay, Corpus corpus) throws InterruptedException {
      QueryRunner asker = new QueryRunner(meters, corpus.shape().blockTokens(), corpus.queries());
      FutureTask<Boolean> events = writer.start(() -> applyInTurns(replay, corpus));
      try {
        for (int query = 0; query < corpus.queries(); query++) {
          awaitApplied(query, events);
          asker.ask(replay.index(), corpus.prompt(query));
          answered = query + 1;
        }
      } finally {
        answered = Integer.MAX_VALUE;
      }
      WriterThread.result(events);
      return asker;
    }

    private boolean applyInTurns(Replay replay, Corpus corpus) {
      int begin = 0;
      for (int record = 0; record < corpus.records(); record++) {
        if (corpus.kind(record) == Kind.QUERY) {
          replay.apply(begin, record);
          begin = record + 1;
          int query = corpus.queryOf(record);
          applied = query + 1;
          awaitAnswered(query);
        }
      }
      replay.apply(begin, corpus.records());
      return true;
    }

    private void awaitApplied(int query, FutureTask<Boolean> events) throws InterruptedException {
      for (int spins = 0; applied <= query; spins++) {
        if (events.isDone()) {
          WriterThread.result(events);
        }
        pause(spins);
      }
    }

    private void awaitAnswered(int query) {
      for (int spins = 0; answered <= query; spins++) {
        pause(spins);
      }
    }

    /** Spins first; gives way when the other side seems to wait for this core. */
    @SuppressWarnings("ThreadPriorityCheck")
    private static void pause(int spins) {
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  /**
   * What an index occupies and allocates.
   *
   * <p>The corpus stays on the heap before and after, so that the difference is the index alone.
   *
   * <p>Confined to the measuring thread.
   */
  static final class MemoryPass {

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
      return index instanceof RunKvIndex runs
          ? OptionalLong.of(runs.bytes())
          : OptionalLong.empty();
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

  /**
   * All events of a corpus, one after another on the writer thread, as fast as they go.
   *
   * <p>The clock stops when a query asked behind the last event has its answer: nothing is left in
   * a queue.
   *
   * <p>Confined to the measuring thread.
   */
  static final class BulkPass {

    /**
     * What it took.
     *
     * @param wallNanos from the first event until the last one was visible
     * @param cpuNanos CPU time of the writer thread
     * @param processCpuNanos CPU time of all threads, the collector's too
     */
    record Took(long wallNanos, long cpuNanos, long processCpuNanos) {

      double perWallSecond(long blocks) {
        return blocks * 1e9 / wallNanos;
      }

      double perCpuSecond(long blocks) {
        return blocks * 1e9 / cpuNanos;
      }

      double perProcessCpuSecond(long blocks) {
        return blocks * 1e9 / processCpuNanos;
      }
    }

    private final Meters meters;
    private final WriterThread writer;

    BulkPass(Meters meters, WriterThread writer) {
      this.meters = meters;
      this.writer = writer;
    }

    Took run(Replay replay, Corpus corpus) throws InterruptedException {
      QueryRunner last = new QueryRunner(meters, corpus.shape().blockTokens(), 1);
      return writer.run(() -> {
        long process = meters.processCpuNanos();
        long wall = meters.nanos();
        long cpu = meters.threadCpuNanos();
        replay.apply(0, corpus.records());
        if (corpus.queries() > 0) {
          last.ask(replay.index(), corpus.prompt(corpus.queries() - 1));
        }
        cpu = meters.threadCpuNanos() - cpu;
        wall = meters.nanos() - wall;
        return new Took(wall, cpu, meters.processCpuNanos() - process);
      });
    }
  }

  /**
   * Asks queries, takes the time of each and sums the answers up.
   *
   * <p>Single writer.
   */
  private static final class QueryRunner {

    private final Meters meters;
    private final int blockTokens;
    private final PrefixMatches matches = new PrefixMatches();
    private final long[] nanos;
    private int asked;
    private long scores;
    private long best;
    private long nonzero;

    /** Keeps the compiler from leaving out the look at a prompt. */
    @SuppressWarnings("unused")
    private long begins;

    /** For at most {@code queries} queries. */
    QueryRunner(Meters meters, int blockTokens, int queries) {
      this.meters = meters;
      this.blockTokens = blockTokens;
      nanos = new long[queries];
    }

    /**
     * Asks and takes the time; the answer is summed up outside of it. A router asks about a prompt
     * whose chain it has just made, so where the chain begins is looked at before.
     */
    void ask(KvIndex index, BlockChain prompt) {
      begins ^= prompt.blocks() == 0 ? prompt.space().rootKey() : prompt.localHash(0);
      long begin = meters.nanos();
      index.match(prompt, matches);
      nanos[asked++] = meters.nanos() - begin;
      sumUp();
    }

    Percentiles percentiles() {
      return Percentiles.of(nanos, asked);
    }

    Sums sums() {
      return new Sums(scores, best, nonzero);
    }

    private void sumUp() {
      int longest = 0;
      for (int slot = 0; slot < matches.slots(); slot++) {
        int blocks = matches.tokens(slot, StorageTier.GPU) / blockTokens;
        scores += blocks;
        nonzero += blocks > 0 ? 1 : 0;
        longest = Math.max(longest, blocks);
      }
      best += longest;
    }
  }
}
