package dev.warmpath.lab.index;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Engines that hold more than the index may take, storing and evicting without end: are its bytes
 * and its speed the same at the end as at the beginning?
 *
 * <p>Each prompt is a system prompt and blocks of its own, which no other prompt has. The engines
 * take turns.
 *
 * <p>Confined to the measuring thread.
 */
final class ChurnBench {

  private static final int ORPHANS_PER_ENGINE = 1 << 10;
  private static final int QUERY_EVERY = 17;
  private static final int TENANTS = 8;
  private static final int SHARED_BLOCKS = 32;
  private static final int LEAST_BLOCKS = 8;
  private static final int MORE_BLOCKS = 120;

  /**
   * What churns.
   *
   * @param maxBytes of the index
   * @param engines how many
   * @param engineBlocks each of them holds
   */
  record Plan(long maxBytes, int engines, int engineBlocks) {}

  /**
   * One interval.
   *
   * @param blocksPerCpuSecond stored and removed, over the CPU time that the index took for it
   * @param totals of the index at its end
   * @param liveHeapBytes after a collection at its end; the engines' caches are in it
   * @param overCredits queries that credited an engine with more than it would reuse
   */
  record Interval(
      double blocksPerCpuSecond, IndexTotals totals, long liveHeapBytes, long overCredits) {}

  private final KvIndex index;
  private final CorpusEngine[] engines;
  private final int[] slots;
  private final Applied applied = new Applied();
  private final SplittableRandom random = new SplittableRandom(1);
  private final LongSupplier nanoClock;
  private final PrefixMatches matches = new PrefixMatches();
  private long prompts;
  private long overCredits;

  ChurnBench(Plan plan, LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    index = new RunKvIndex(new IndexLimits(ORPHANS_PER_ENGINE, plan.maxBytes()));
    slots = new int[plan.engines()];
    engines = new CorpusEngine[plan.engines()];
    long rootKey = CorpusShape.SIMPLE.space().rootKey();
    var recording = new CorpusEngine.Recording(new HashNames(false), rootKey, false);
    for (int i = 0; i < slots.length; i++) {
      slots[i] = index.addEngine(CopyCounting.PER_COPY);
      index.layout(slots[i], CorpusShape.SIMPLE.layout());
      engines[i] =
          new CorpusEngine(
              i, SerialEngine.fullAttention(), plan.engineBlocks(), recording, applied);
    }
  }

  /** Churns for so many intervals; tells each one when it is over. */
  List<Interval> run(int intervals, long intervalNanos, Consumer<Interval> listener) {
    List<Interval> all = new ArrayList<>();
    for (int i = 0; i < intervals; i++) {
      Interval interval = interval(intervalNanos);
      listener.accept(interval);
      all.add(interval);
    }
    return all;
  }

  private Interval interval(long nanos) {
    applied.reset();
    long end = nanoClock.getAsLong() + nanos;
    while (nanoClock.getAsLong() < end) {
      long[] prompt = nextPrompt();
      engines[(int) (prompts % engines.length)].serve(prompt);
      if (prompts % QUERY_EVERY == 0) {
        ask(prompt);
      }
    }
    System.gc();
    long live = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    return new Interval(applied.blocksPerCpuSecond(), index.totals(), live, overCredits);
  }

  private long[] nextPrompt() {
    long number = ++prompts;
    long shared = -SHARED_BLOCKS * (1 + number % TENANTS);
    long[] prompt = new long[SHARED_BLOCKS + LEAST_BLOCKS + random.nextInt(MORE_BLOCKS)];
    Arrays.setAll(prompt, i -> i < SHARED_BLOCKS ? shared + i : number << 8 | i - SHARED_BLOCKS);
    return prompt;
  }

  private void ask(long[] prompt) {
    index.match(BlockChain.ofLocalHashes(CorpusShape.SIMPLE.space(), applied.query), matches);
    for (int i = 0; i < slots.length; i++) {
      if (matches.tokens(slots[i]) > engines[i].reusable(prompt)) {
        overCredits++;
      }
    }
  }

  /** Applies what engines do to the index, and counts blocks and time. */
  private final class Applied implements CorpusSink {
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long blocks;
    private long cpuNanos;
    private long[] query = {};

    void reset() {
      blocks = 0;
      cpuNanos = 0;
    }

    double blocksPerCpuSecond() {
      return 1e9 * blocks / cpuNanos;
    }

    @Override
    public void stored(int worker, StoredBlocks stored) {
      long begin = threads.getCurrentThreadCpuTime();
      index.stored(slots[worker], stored);
      count(stored.count(), begin);
    }

    @Override
    public void removed(int worker, RemovedBlocks removed) {
      long begin = threads.getCurrentThreadCpuTime();
      index.removed(slots[worker], removed);
      count(removed.count(), begin);
    }

    @Override
    public void cleared(int worker) {
      index.cleared(slots[worker]);
    }

    @Override
    public void query(int worker, long[] localHashes, int count) {
      query = Arrays.copyOf(localHashes, count);
    }

    private void count(int more, long beginNanos) {
      cpuNanos += threads.getCurrentThreadCpuTime() - beginNanos;
      blocks += more;
    }
  }
}
