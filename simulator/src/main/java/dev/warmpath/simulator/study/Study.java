package dev.warmpath.simulator.study;

import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.engine.cache.KvCacheConfig;
import dev.warmpath.simulator.fleet.FleetPlan;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.VirtualFleet;
import dev.warmpath.simulator.fleet.Workload;
import dev.warmpath.simulator.trace.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongConsumer;

/**
 * Runs all combinations of fleets, loads and policies on one trace, each with several seeds.
 *
 * <p>Confined to the thread that calls it; the runs share as many threads as asked for.
 */
public final class Study {

  /**
   * What is combined.
   *
   * @param policies by name
   * @param replicas sizes of fleets
   * @param kvTokens sizes of caches
   * @param rates how many times as fast as recorded; shares of the knee if {@code ofKnee}
   * @param copies how many clients play the trace, 0 for one for each eight replicas
   * @param seeds runs of each cell
   * @param threads runs at a time
   */
  public record Grid(
      List<String> policies,
      List<Integer> replicas,
      List<Long> kvTokens,
      List<Double> rates,
      boolean ofKnee,
      List<IndexMode> indexes,
      int copies,
      int seeds,
      int threads) {

    int copiesFor(int engines) {
      return copies > 0 ? copies : Math.max(1, Math.round(engines / 8f));
    }
  }

  /** Hears how far it is. */
  public interface Progress {
    /** So many of all runs are over. */
    void runs(long done, long all);
  }

  private static final int STEP_TOKENS = 8192;
  private static final int RUNNING_SEQUENCES = 256;

  private final Trace trace;
  private final Grid grid;

  public Study(Trace trace, Grid grid) {
    this.trace = trace;
    this.grid = grid;
  }

  /** Runs everything. */
  public List<CellFigures> run(Progress progress) throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(grid.threads);
    try {
      List<Cell> cells = cells(pool);
      List<List<Future<RunFigures>>> runs = new ArrayList<>();
      for (Cell cell : cells) {
        List<Future<RunFigures>> seeds = new ArrayList<>();
        for (int seed = 1; seed <= grid.seeds; seed++) {
          long number = seed;
          Callable<RunFigures> run = () -> run(cell, number, arrivals -> {});
          seeds.add(pool.submit(run));
        }
        runs.add(seeds);
      }
      return collected(cells, runs, progress);
    } finally {
      pool.shutdownNow();
    }
  }

  private List<CellFigures> collected(
      List<Cell> cells, List<List<Future<RunFigures>>> runs, Progress progress)
      throws InterruptedException {
    List<CellFigures> figures = new ArrayList<>();
    long done = 0;
    for (int i = 0; i < cells.size(); i++) {
      List<RunFigures> seeds = new ArrayList<>();
      for (Future<RunFigures> run : runs.get(i)) {
        seeds.add(result(run));
        progress.runs(++done, (long) cells.size() * grid.seeds);
      }
      figures.add(new CellFigures(cells.get(i), seeds));
    }
    return figures;
  }

  static <T> T result(Future<T> run) throws InterruptedException {
    try {
      return run.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("a run failed: " + e.getCause(), e);
    }
  }

  private List<Cell> cells(ExecutorService pool) throws InterruptedException {
    List<Cell> cells = new ArrayList<>();
    for (int replicas : grid.replicas) {
      for (long kvTokens : grid.kvTokens) {
        double knee = grid.ofKnee ? new Knee(this, replicas, kvTokens).rate(pool) : Double.NaN;
        for (double rate : grid.rates) {
          for (IndexMode index : grid.indexes) {
            for (String policy : grid.policies) {
              cells.add(
                  new Cell(
                      trace.name(),
                      replicas,
                      kvTokens,
                      grid.ofKnee ? rate : Double.NaN,
                      grid.ofKnee ? rate * knee : rate,
                      index,
                      policy));
            }
          }
        }
      }
    }
    return cells;
  }

  String traceName() {
    return trace.name();
  }

  RunFigures run(Cell cell, long seed, LongConsumer progress) {
    Workload workload = new Workload(trace, cell.rate(), grid.copiesFor(cell.replicas()), seed);
    FleetPlan plan =
        FleetPlan.of(
            cell.replicas(),
            engine(cell.kvTokens()),
            cell.index(),
            PolicySpec.make(cell.policy()),
            seed);
    return RunFigures.of(
        new VirtualFleet(plan, workload).run(progress), cell.replicas(), RunFigures.Goal.DEFAULT);
  }

  private EngineConfig engine(long kvTokens) {
    int blockSize = trace.blockSizeTokens();
    KvCacheConfig cache =
        KvCacheConfig.fullAttention(blockSize, (int) Math.max(2, kvTokens / blockSize));
    return new EngineConfig(
        cache, STEP_TOKENS, RUNNING_SEQUENCES, cache.maxSequenceTokens(), StepCost.H100X4);
  }
}
