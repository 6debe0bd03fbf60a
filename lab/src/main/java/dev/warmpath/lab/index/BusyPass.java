package dev.warmpath.lab.index;

import dev.warmpath.lab.bench.Meters;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.index.Corpus.Kind;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Queries while the writer replays the stream, from the first query on, at full speed.
 *
 * <p>The reader asks for the prompts around the writer's place in the stream, so that it reads what
 * is being changed.
 *
 * <p>Confined to the measuring thread.
 */
final class BusyPass {

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
