package dev.warmpath.simulator.bench.churn;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Engines that hold more than the index may take, storing and evicting without end: are its bytes
 * and its speed the same at the end as at the beginning?
 *
 * <p>Confined to the measuring thread.
 */
public final class ChurnBench {

  private static final int ORPHANS_PER_ENGINE = 1 << 10;
  private static final int QUERY_EVERY = 16;

  /**
   * What churns.
   *
   * @param maxBytes of the index
   * @param engines how many
   * @param engineBlocks each of them holds
   */
  public record Plan(long maxBytes, int engines, int engineBlocks) {}

  /**
   * One interval.
   *
   * @param blocksPerCpuSecond stored and removed, over the CPU time of the writing thread, which
   *     also makes the hashes and a few queries
   * @param totals of the index at its end
   * @param liveHeapBytes after a collection at its end
   * @param overCredits queries that credited more than the engine holds
   */
  public record Interval(
      double blocksPerCpuSecond, IndexTotals totals, long liveHeapBytes, long overCredits) {}

  private final KvIndex index;
  private final List<ChurnEngine> engines = new ArrayList<>();
  private final LongSupplier nanoClock;
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final PrefixMatches matches = new PrefixMatches();
  private long overCredits;

  public ChurnBench(Plan plan, LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    index = new RunKvIndex(new IndexLimits(ORPHANS_PER_ENGINE, plan.maxBytes()));
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < plan.engines(); i++) {
      engines.add(new ChurnEngine(index, i, plan.engineBlocks(), random.split()));
    }
  }

  /** Churns for so many intervals; tells each one when it is over. */
  public List<Interval> run(int intervals, long intervalNanos, Consumer<Interval> listener) {
    List<Interval> all = new ArrayList<>();
    for (int i = 0; i < intervals; i++) {
      Interval interval = interval(intervalNanos);
      listener.accept(interval);
      all.add(interval);
    }
    return all;
  }

  private Interval interval(long nanos) {
    long end = nanoClock.getAsLong() + nanos;
    long cpu = threads.getCurrentThreadCpuTime();
    long blocks = 0;
    for (int steps = 0; nanoClock.getAsLong() < end; steps++) {
      ChurnEngine engine = engines.get(steps % engines.size());
      blocks += engine.step();
      if (steps % QUERY_EVERY == 0) {
        ask(engine);
      }
    }
    double seconds = (threads.getCurrentThreadCpuTime() - cpu) / 1e9;
    System.gc();
    long live = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    return new Interval(blocks / seconds, index.totals(), live, overCredits);
  }

  /** Nobody else has the prompt's own blocks, so nobody else may be credited beyond the shared. */
  private void ask(ChurnEngine engine) {
    var prompt = engine.recent();
    index.match(prompt, matches);
    for (ChurnEngine other : engines) {
      int most = other == engine ? prompt.promptTokens() : ChurnEngine.SHARED_TOKENS;
      if (matches.tokens(other.slot()) > most) {
        overCredits++;
      }
    }
  }
}
