package dev.warmpath.lab.index;

import dev.warmpath.lab.bench.Meters;
import dev.warmpath.lab.index.Corpus.Kind;
import java.util.concurrent.FutureTask;

/**
 * Each query right after the events before it, which another thread applied: what the query needs
 * is in the other core's caches or in none.
 *
 * <p>Writer and reader take turns; the writer goes on when the reader has its answer.
 *
 * <p>Confined to the measuring thread.
 */
final class InterleavedPass {

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
