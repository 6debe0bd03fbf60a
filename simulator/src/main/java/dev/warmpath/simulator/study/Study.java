package dev.warmpath.simulator.study;

import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.simulator.engine.CostModel;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.Link;
import dev.warmpath.simulator.fleet.Change;
import dev.warmpath.simulator.fleet.FleetPlan;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.Measures;
import dev.warmpath.simulator.fleet.Pairs;
import dev.warmpath.simulator.fleet.PolicySpec;
import dev.warmpath.simulator.fleet.Routers;
import dev.warmpath.simulator.fleet.VirtualFleet;
import dev.warmpath.simulator.fleet.Workload;
import dev.warmpath.simulator.trace.Trace;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongConsumer;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Runs all combinations of fleets, loads and policies on one trace, each with several seeds. The
 * same trace, grid and seeds always give the same figures.
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
   * @param hostKvTokens sizes of host tiers, 0 for none
   * @param rates how many times as fast as recorded; shares of the knee if {@code ofKnee}
   * @param routers in front of each fleet
   * @param pairs of its engines that serve a request together
   * @param changes of the fleet, each in a run of its own
   */
  public record Grid(
      List<String> policies,
      List<Integer> replicas,
      List<Long> kvTokens,
      List<Long> hostKvTokens,
      List<Double> rates,
      boolean ofKnee,
      List<IndexMode> indexes,
      List<Routers> routers,
      List<Pairs> pairs,
      List<Change> changes) {

    public Grid {
      policies = List.copyOf(policies);
      replicas = List.copyOf(replicas);
      kvTokens = List.copyOf(kvTokens);
      hostKvTokens = List.copyOf(hostKvTokens);
      rates = List.copyOf(rates);
      indexes = List.copyOf(indexes);
      routers = List.copyOf(routers);
      pairs = List.copyOf(pairs);
      changes = List.copyOf(changes);
    }

    /** Fleets without host tier and pairs, behind one router. */
    public Grid(
        List<String> policies,
        List<Integer> replicas,
        List<Long> kvTokens,
        List<Double> rates,
        boolean ofKnee,
        List<IndexMode> indexes) {
      this(
          policies,
          replicas,
          kvTokens,
          List.of(0L),
          rates,
          ofKnee,
          indexes,
          List.of(Routers.ONE),
          List.of(Pairs.NONE),
          List.of(Change.NONE));
    }

    private List<Fleet> fleets() {
      List<Fleet> fleets = new ArrayList<>();
      for (int engines : replicas) {
        for (long tokens : kvTokens) {
          for (long host : hostKvTokens) {
            fleets.add(new Fleet(engines, tokens, host));
          }
        }
      }
      return fleets;
    }
  }

  /** The size of a fleet: engines, and tokens of each one's cache and host tier. */
  private record Fleet(int replicas, long kvTokens, long hostKvTokens) {}

  /**
   * How each combination is run.
   *
   * @param copies how many clients play the trace, 0 for one for each eight replicas
   * @param seeds runs of each cell
   * @param threads runs at a time
   * @param warmUp share of the time, from its beginning, in which requests are not counted
   * @param spreadMillis of the trace's time, by a part of which each arrival is later
   * @param costs the speeds of the engines, in turn
   * @param loadPath of each engine, from host memory
   * @param loadBack whether what only that holds is loaded
   * @param pull how engines get what that of others holds; null if they do not
   * @param storeTokens that a store holds which all engines read; 0 for none
   * @param storePublishes whether routers hear of what it drops
   * @param queueMillis a request that has waited so long at a router is refused
   * @param changeSeconds when fleets change: what arrives in the {@link
   *     Window#AFTER_CHANGE_SECONDS} from then on is counted, of fleets that do not change too; NaN
   *     for the share of the time
   */
  public record Runs(
      int copies,
      int seeds,
      int threads,
      double warmUp,
      List<CostModel> costs,
      double spreadMillis,
      Link loadPath,
      LoadBack loadBack,
      @Nullable Link pull,
      long storeTokens,
      boolean storePublishes,
      long queueMillis,
      double changeSeconds) {

    /** Loads go over PCIe. */
    public Runs(
        int copies, int seeds, int threads, double warmUp, CostModel cost, double spreadMillis) {
      this(
          copies,
          seeds,
          threads,
          warmUp,
          List.of(cost),
          spreadMillis,
          Link.PCIE,
          LoadBack.CHEAPEST,
          null,
          0,
          true,
          FleetPlan.QUEUE_MILLIS,
          Double.NaN);
    }

    int copiesFor(int engines) {
      return copies > 0 ? copies : Math.max(1, Math.round(engines / 8f));
    }
  }

  /** Hears how far it is, from several threads. */
  public interface Progress {
    /** So many of all are over. */
    void show(long done, long all);
  }

  private static final int MOST_REQUESTS = 100_000_000;
  private static final int STEP_TOKENS = 8192;
  private static final int RUNNING_SEQUENCES = 256;

  /** Published and good all round: the load of a cell does not depend on what is compared there. */
  private static final String POLICY_OF_KNEE = "conductor";

  private final Trace trace;
  private final Grid grid;
  private final Runs runs;

  /**
   * @throws IllegalArgumentException for more copies than can be counted
   */
  public Study(Trace trace, Grid grid, Runs runs) {
    this.trace = trace;
    this.grid = grid;
    this.runs = runs;
    for (int engines : grid.replicas) {
      long requests = (long) runs.copiesFor(engines) * trace.requests();
      if (requests > MOST_REQUESTS) {
        throw new IllegalArgumentException(
            "%d requests in %d copies are more than %d in all"
                .formatted(trace.requests(), runs.copiesFor(engines), MOST_REQUESTS));
      }
    }
  }

  /**
   * All combinations; looks for the knee of each fleet if rates are shares of it.
   *
   * @param progress counts fleets
   * @throws IllegalArgumentException if a fleet has no knee
   */
  public List<Cell> cells(Progress progress) throws InterruptedException {
    List<Cell> cells = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(runs.threads);
    try {
      Map<Fleet, Future<OptionalDouble>> knees = grid.ofKnee ? knees(pool, progress) : Map.of();
      for (Fleet fleet : grid.fleets()) {
        Future<OptionalDouble> knee = knees.get(fleet);
        add(cells, fleet, knee == null ? Double.NaN : kneeOf(fleet, result(knee)));
      }
      return cells;
    } finally {
      pool.shutdownNow();
    }
  }

  /** Fleets whose knees {@link #cells} looks for. */
  public int knees() {
    return grid.ofKnee ? grid.fleets().size() : 0;
  }

  private Map<Fleet, Future<OptionalDouble>> knees(ExecutorService pool, Progress progress) {
    Map<Fleet, Future<OptionalDouble>> knees = new HashMap<>();
    int all = knees();
    AtomicLong done = new AtomicLong();
    for (Fleet fleet : grid.fleets()) {
      knees.put(
          fleet,
          pool.submit(() -> {
            OptionalDouble rate = Knee.rate(at -> lightMean(fleet, at));
            progress.show(done.incrementAndGet(), all);
            return rate;
          }));
    }
    return knees;
  }

  private double lightMean(Fleet fleet, double rate) {
    Cell cell =
        new Cell(
            trace.name(),
            fleet.replicas,
            fleet.kvTokens,
            fleet.hostKvTokens,
            1,
            rate,
            IndexMode.NOW,
            POLICY_OF_KNEE,
            Routers.ONE,
            Pairs.NONE,
            Change.NONE);
    return run(cell, 0, false, arrivals -> {}).figures.ttftMillis().mean();
  }

  private static double kneeOf(Fleet fleet, OptionalDouble rate) {
    return rate.orElseThrow(() ->
        new IllegalArgumentException(
            "no rate makes the waiting times of %d × %d tokens rise, or nothing fits there"
                .formatted(fleet.replicas, fleet.kvTokens)));
  }

  private void add(List<Cell> cells, Fleet fleet, double knee) {
    for (double rate : grid.rates) {
      for (IndexMode index : grid.indexes) {
        for (String policy : grid.policies) {
          for (Routers routers : grid.routers) {
            for (Pairs pairs : grid.pairs) {
              for (Change change : grid.changes) {
                cells.add(
                    new Cell(
                        trace.name(),
                        fleet.replicas,
                        fleet.kvTokens,
                        fleet.hostKvTokens,
                        grid.ofKnee ? rate : Double.NaN,
                        grid.ofKnee ? rate * knee : rate,
                        index,
                        policy,
                        routers,
                        pairs,
                        change));
              }
            }
          }
        }
      }
    }
  }

  /**
   * Whether all that is counted after a change comes before the last arrival.
   *
   * @throws IllegalArgumentException if not, with the latest time
   */
  public void checkChange(List<Cell> cells) {
    for (Cell cell : cells) {
      double end = trace.spanSeconds() / cell.rate();
      double latest = end - Window.AFTER_CHANGE_SECONDS;
      if (runs.changeSeconds > latest) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "must be at most %.0f: at rate %.3g arrivals end after %.0f s, and ten minutes are counted",
                Math.floor(latest),
                cell.rate(),
                end));
      }
    }
  }

  /** How many requests these cells come to, all seeds together. */
  public long requests(List<Cell> cells) {
    long copies = cells.stream().mapToLong(cell -> runs.copiesFor(cell.replicas())).sum();
    return copies * trace.requests() * runs.seeds;
  }

  /**
   * Runs these cells; the first one of each setting brings its oracles.
   *
   * @param progress counts requests
   */
  public List<CellFigures> run(List<Cell> cells, Progress progress) throws InterruptedException {
    Counter counter = new Counter(progress, requests(cells));
    Set<String> settings = new HashSet<>();
    ExecutorService pool = Executors.newFixedThreadPool(runs.threads);
    try {
      List<List<Future<Outcome>>> outcomes = new ArrayList<>();
      for (Cell cell : cells) {
        boolean withOracle = settings.add(cell.setting());
        List<Future<Outcome>> seeds = new ArrayList<>();
        for (int seed = 1; seed <= runs.seeds; seed++) {
          long number = seed;
          seeds.add(pool.submit(() -> run(cell, number, withOracle, counter.ofRun())));
        }
        outcomes.add(seeds);
      }
      return collected(cells, outcomes);
    } finally {
      pool.shutdownNow();
    }
  }

  private static List<CellFigures> collected(List<Cell> cells, List<List<Future<Outcome>>> outcomes)
      throws InterruptedException {
    List<CellFigures> figures = new ArrayList<>();
    Map<String, List<Oracle>> oracles = new HashMap<>();
    for (int i = 0; i < cells.size(); i++) {
      List<RunFigures> seeds = new ArrayList<>();
      List<Oracle> found =
          oracles.computeIfAbsent(cells.get(i).setting(), setting -> new ArrayList<>());
      for (Future<Outcome> future : outcomes.get(i)) {
        Outcome outcome = result(future);
        seeds.add(outcome.figures);
        if (outcome.oracle != null) {
          found.add(outcome.oracle);
        }
      }
      figures.add(new CellFigures(cells.get(i), seeds, found));
    }
    return figures;
  }

  private static <T> T result(Future<T> run) throws InterruptedException {
    try {
      return run.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("a run failed: " + e.getCause(), e);
    }
  }

  private record Outcome(RunFigures figures, @Nullable Oracle oracle) {}

  private Outcome run(Cell cell, long seed, boolean withOracle, LongConsumer progress) {
    Workload workload =
        new Workload(
            trace, cell.rate(), runs.copiesFor(cell.replicas()), seed, runs.spreadMillis / 1e3);
    EngineConfig engine = engine(cell);
    Change change = cell.change();
    FleetPlan plan =
        new FleetPlan(
            cell.replicas(),
            engine,
            runs.costs,
            cell.index(),
            () -> PolicySpec.make(cell.policy()),
            runs.queueMillis,
            seed,
            change.incidents(runs.changeSeconds, cell.replicas(), seed),
            cell.routers(),
            cell.pairs(),
            new FleetPlan.Beyond(runs.loadBack, runs.pull, store()));
    VirtualFleet played = new VirtualFleet(plan, workload);
    Measures measures;
    Window window;
    if (Double.isNaN(runs.changeSeconds)) {
      measures = played.run(progress);
      window = Window.from(RunFigures.countedFromSeconds(measures, runs.warmUp));
    } else {
      window = Window.afterChange(runs.changeSeconds);
      measures = played.run(progress, window.playedUntilSeconds());
    }
    return new Outcome(
        RunFigures.of(workload, measures, plan.mostEngines(), RunFigures.Goal.DEFAULT, window),
        withOracle ? Oracle.of(workload, measures, engine.cache(), cell.replicas(), window) : null);
  }

  private FleetPlan.@Nullable Shared store() {
    int blocks = (int) (runs.storeTokens / trace.blockSizeTokens());
    return blocks == 0 ? null : new FleetPlan.Shared(blocks, runs.storePublishes);
  }

  private EngineConfig engine(Cell cell) {
    int blockSize = trace.blockSizeTokens();
    int blocks = (int) Math.max(2, cell.kvTokens() / blockSize);
    KvCacheConfig cache =
        KvCacheConfig.fullAttention(blockSize, blocks)
            .withHost((int) (cell.hostKvTokens() / blockSize));
    return new EngineConfig(
        cache,
        STEP_TOKENS,
        RUNNING_SEQUENCES,
        cache.maxSequenceTokens(),
        runs.costs.get(0),
        runs.loadPath);
  }

  /** Adds up the requests of runs that go on at the same time. */
  private static final class Counter {
    private final Progress progress;
    private final long all;
    private final AtomicLong done = new AtomicLong();

    Counter(Progress progress, long all) {
      this.progress = progress;
      this.all = all;
    }

    /** Hears how many requests of one run have arrived. */
    LongConsumer ofRun() {
      AtomicLong before = new AtomicLong();
      return arrived -> progress.show(done.addAndGet(arrived - before.getAndSet(arrived)), all);
    }
  }

  /**
   * Where a fleet's waiting times rise: the highest rate at which the mean time to first token is
   * at most {@value #RISE} times what it is if the fleet is idle.
   *
   * <p>Thread-safe.
   */
  static final class Knee {

    private static final double RISE = 4;
    private static final double IDLE = 1e-3;
    private static final double HIGHEST = 1e4;
    private static final double STEP = 4;
    private static final int HALVINGS = 6;

    private Knee() {}

    /**
     * The rate of the knee, up to 3 % too low; empty if no rate makes waiting times rise.
     *
     * @param meanMillis the mean time to first token at a rate; NaN if nothing was answered
     */
    static OptionalDouble rate(DoubleUnaryOperator meanMillis) {
      double most = RISE * meanMillis.applyAsDouble(IDLE);
      double under = IDLE;
      double over = STEP * IDLE;
      while (meanMillis.applyAsDouble(over) <= most) {
        if (over > HIGHEST) {
          return OptionalDouble.empty();
        }
        under = over;
        over *= STEP;
      }
      if (Double.isNaN(most)) {
        return OptionalDouble.empty();
      }
      for (int i = 0; i < HALVINGS; i++) {
        double middle = Math.sqrt(under * over);
        if (meanMillis.applyAsDouble(middle) <= most) {
          under = middle;
        } else {
          over = middle;
        }
      }
      return OptionalDouble.of(under);
    }
  }

  /**
   * A cell over all its seeds.
   *
   * @param runs one for each seed
   * @param oracles one for each seed, the same for all policies of a setting
   */
  public record CellFigures(Cell cell, List<RunFigures> runs, List<Oracle> oracles) {

    public CellFigures {
      runs = List.copyOf(runs);
      oracles = List.copyOf(oracles);
    }

    /** A figure's mean over the seeds. */
    public Estimate estimate(Figure figure) {
      return Estimate.of(runs.stream().mapToDouble(figure::of).toArray());
    }

    /** The mean over the seeds. */
    public double mean(ToDoubleFunction<RunFigures> figure) {
      return runs.stream().mapToDouble(figure).average().orElse(Double.NaN);
    }

    /** The mean of an oracle's figure over the seeds. */
    public double oracle(ToDoubleFunction<Oracle> figure) {
      return oracles.stream().mapToDouble(figure).average().orElse(Double.NaN);
    }
  }
}
