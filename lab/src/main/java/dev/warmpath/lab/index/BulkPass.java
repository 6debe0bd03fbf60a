package dev.warmpath.lab.index;

import dev.warmpath.lab.bench.Meters;

/**
 * All events of a corpus, one after another on the writer thread, as fast as they go.
 *
 * <p>The clock stops when a query asked behind the last event has its answer: nothing is left in a
 * queue.
 *
 * <p>Confined to the measuring thread.
 */
final class BulkPass {

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
