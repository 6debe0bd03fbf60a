package dev.warmpath.lab.index;

import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.lab.bench.Meters;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.index.Corpus.Kind;
import dev.warmpath.lab.index.IndexBench.BulkPass;
import java.util.Arrays;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Events at half of the rate that the writer can take, and how long each needs until a reader sees
 * it.
 *
 * <p>The last records of the stream, at most half of them and at most three seconds long, arrive by
 * a schedule fixed beforehand: an event arrives when its last block does, blocks are evenly spaced.
 * The writer takes an event when it has arrived and all before it are done. The time runs from the
 * scheduled arrival until the event is visible, so waiting behind other events is included. It is
 * taken for stores that complete the prompt of the query before them. A reader that sleeps until
 * shortly before the next of these polls with that prompt until it sees the last block; where it
 * did not look in time, because the one before kept it, the return of the write counts.
 *
 * <p>Confined to the measuring thread.
 */
final class KeepUpPass {

  /**
   * What was seen.
   *
   * @param visible from the scheduled arrival of an event until a query finds it
   * @param query how long the first query for each event took
   */
  record Seen(Percentiles visible, Percentiles query) {}

  private static final long MAX_NANOS = 3_000_000_000L;
  private static final double LOAD = 0.5;
  private static final long AWAKE_BEFORE_NANOS = 100_000;

  private final Meters meters;
  private final Replay replay;
  private final Corpus corpus;
  private final double nanosPerBlock;
  private final int begin;
  private final Probes probes;
  private final long[] due;
  private final long[] returned;
  private final long[] seen;
  private final AtomicInteger applied = new AtomicInteger();
  private final PrefixMatches matches = new PrefixMatches();
  private final long[] queries;
  private int asked;

  /**
   * @param capacity what the writer did at full speed
   */
  KeepUpPass(Meters meters, Replay replay, Corpus corpus, BulkPass.Took capacity) {
    this.meters = meters;
    this.replay = replay;
    this.corpus = corpus;
    nanosPerBlock = capacity.wallNanos() / LOAD / Math.max(1, corpus.eventBlocks());
    begin = begin();
    probes = Probes.of(corpus, begin);
    due = new long[probes.size()];
    returned = new long[probes.size()];
    seen = new long[probes.size()];
    queries = new long[probes.size()];
  }

  Seen run(WriterThread writer) throws InterruptedException {
    replay.apply(0, begin);
    applied.set(begin - 1);
    long start = meters.nanos() + 1_000_000;
    schedule(start);
    FutureTask<Boolean> events = writer.start(() -> applyOnTime(start));
    for (int probe = 0; probe < due.length; probe++) {
      if (sleptUntil(due[probe])) {
        seen[probe] = look(probe);
      }
    }
    WriterThread.result(events);
    return new Seen(Percentiles.of(visibleNanos(), due.length), Percentiles.of(queries, asked));
  }

  /** False if it is too late to sleep. */
  private boolean sleptUntil(long nanos) {
    long sleep = nanos - AWAKE_BEFORE_NANOS - meters.nanos();
    if (sleep < 0) {
      return false;
    }
    LockSupport.parkNanos(sleep);
    awaitTime(nanos);
    return true;
  }

  private long[] visibleNanos() {
    long[] visible = new long[due.length];
    for (int probe = 0; probe < due.length; probe++) {
      visible[probe] = (seen[probe] == 0 ? returned[probe] : seen[probe]) - due[probe];
    }
    return visible;
  }

  /** The first record that arrives by schedule. */
  private int begin() {
    long blocks = (long) (MAX_NANOS / nanosPerBlock);
    int record = corpus.records();
    while (record > corpus.records() / 2 && blocks > 0) {
      record--;
      blocks -= blocksOf(record);
    }
    return record;
  }

  private void schedule(long start) {
    long blocks = 0;
    int probe = 0;
    for (int record = begin; record < corpus.records() && probe < due.length; record++) {
      blocks += blocksOf(record);
      if (record == probes.record(probe)) {
        due[probe++] = start + (long) (blocks * nanosPerBlock);
      }
    }
  }

  private boolean applyOnTime(long start) {
    try {
      long blocks = 0;
      int probe = 0;
      for (int record = begin; record < corpus.records(); record++) {
        blocks += blocksOf(record);
        awaitTime(start + (long) (blocks * nanosPerBlock));
        replay.apply(record, record + 1);
        if (probe < due.length && record == probes.record(probe)) {
          returned[probe++] = meters.nanos();
        }
        applied.set(record);
      }
      return true;
    } finally {
      applied.set(Integer.MAX_VALUE);
    }
  }

  /** When the event of {@code probe} was visible. */
  private long look(int probe) {
    BlockChain prompt = corpus.prompt(probes.query(probe));
    int slot = replay.slot(corpus.worker(probes.record(probe)));
    for (int looks = 0; applied.get() < probes.record(probe); looks++) {
      long began = meters.nanos();
      replay.index().match(prompt, matches);
      long now = meters.nanos();
      if (looks == 0) {
        queries[asked++] = now - began;
      }
      if (matches.tokens(slot, StorageTier.GPU) >= prompt.promptTokens()) {
        return now;
      }
    }
    return returned[probe];
  }

  private int blocksOf(int record) {
    return corpus.kind(record) == Kind.QUERY ? 0 : corpus.blocks(record);
  }

  private void awaitTime(long nanos) {
    while (meters.nanos() < nanos) {
      Thread.onSpinWait();
    }
  }

  /**
   * The stores after which a worker holds the whole prompt of the query before them: a reader can
   * see that such an event has arrived.
   *
   * <p>Immutable.
   */
  static final class Probes {

    private final int[] records;
    private final int[] queries;

    private Probes(int[] records, int[] queries) {
      this.records = records;
      this.queries = queries;
    }

    /** The probes among the records from {@code begin} on. */
    static Probes of(Corpus corpus, int begin) {
      int[] records = new int[corpus.queries()];
      int[] queries = new int[corpus.queries()];
      int size = 0;
      int query = -1;
      for (int record = begin; record < corpus.records(); record++) {
        if (corpus.kind(record) == Kind.QUERY) {
          query = record;
        } else if (query >= 0 && completes(corpus, query, record)) {
          records[size] = record;
          queries[size++] = corpus.queryOf(query);
          query = -1;
        }
      }
      return new Probes(Arrays.copyOf(records, size), Arrays.copyOf(queries, size));
    }

    int size() {
      return records.length;
    }

    /** The record of the store. */
    int record(int probe) {
      return records[probe];
    }

    /** The number of the query whose prompt is then held. */
    int query(int probe) {
      return queries[probe];
    }

    private static boolean completes(Corpus corpus, int query, int record) {
      return corpus.kind(record) == Kind.STORE
          && corpus.worker(record) == corpus.worker(query)
          && corpus.endsLike(record, corpus.promptOf(query));
    }
  }
}
