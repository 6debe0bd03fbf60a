package dev.warmpath.simulator.fleet;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.cluster.Cluster;
import dev.warmpath.router.cluster.RouterId;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prewarming;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.SharedPrefix;
import dev.warmpath.router.fleet.Store;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.routing.SplitRules;
import dev.warmpath.simulator.engine.CachedSequence;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One router of a virtual fleet: the router's own dispatcher, policy, index and cluster, with its
 * own view of each engine.
 *
 * <p>Single writer.
 */
final class VirtualRouter implements EngineEvents {

  private static final int REPLICA_REQUESTS = 4096; // the default
  private static final int MOST_QUEUED = 1 << 20;
  private static final int MOST_ORPHANS = 1 << 16;
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long EXPIRE_NANOS = 15_000_000_000L;
  private static final long SKEW_NANOS = 3_600_000_000_000L;

  /** So often a tick does something although nothing happened: see {@link Cluster}. */
  private static final long LOOK_NANOS = 100_000_000;

  /** The default of {@code fleet.prewarm-ms}. */
  private static final long PREWARM_MILLIS = 10_000;

  final int number;
  final KvIndex index;
  final Dispatcher dispatcher;
  private final Fleet fleet = new Fleet();
  private final List<Replica> replicas = new ArrayList<>();
  private final Map<Replica, VirtualEngine> byReplica = new HashMap<>();
  private final List<RoutedBlocks> routed = new ArrayList<>();
  private final ChainSpace space;
  private final @Nullable Store store;
  private final StoredBlocks put = new StoredBlocks();
  private final @Nullable Cluster cluster;
  private final @Nullable Prewarming prewarming;
  private boolean touched;
  private long touchedNanos;
  private long lookedNanos;

  /**
   * @param network to the others; null if it does not know of them
   * @param nanoClock the fleet's; each router's own counts from elsewhere
   * @param prewarms lets an engine compute a prefix, for the first router
   */
  VirtualRouter(
      int number,
      FleetPlan plan,
      List<VirtualEngine> engines,
      @Nullable VirtualNetwork network,
      LongSupplier nanoClock,
      Prewarms prewarms) {
    this.number = number;
    long seed = number == 0 ? plan.seed() : Workload.mixed(plan.seed()) + number;
    index = new RunKvIndex(IndexLimits.unbounded(MOST_ORPHANS), seed);
    for (VirtualEngine engine : engines) {
      add(engine, plan);
      if (engine.number < plan.engines()) {
        join(engine);
      }
    }
    space = new ChainSpace("virtual", plan.engine().cache().blockSizeTokens(), 0);
    store = store(plan);
    LongSupplier clock = () -> nanoClock.getAsLong() + number * SKEW_NANOS;
    cluster = network == null ? null : cluster(network, clock, nanoClock);
    dispatcher =
        new Dispatcher(
            fleet,
            index,
            this,
            plan.policy().get(),
            new Dispatcher.Limits(ExpectedBlocks.Limits.DEFAULT, REPLICA_REQUESTS, MOST_QUEUED),
            new Dispatcher.Environment(
                clock, new SplittableRandom(seed), new Metrics(), listeners()));
    dispatcher.loadBack(plan.beyond().loadBack());
    dispatcher.pulls(plan.beyond().pull() != null);
    if (plan.pairs().isOn()) {
      dispatcher.splitRule(PolicySpec.rule(plan.pairs().rule()));
    } else if (plan.beyond().pull() != null) {
      dispatcher.splitRule(SplitRules.NEVER);
    }
    if (cluster != null) {
      cluster.begin(dispatcher);
    }
    prewarming =
        number == 0 && plan.prewarms()
            ? new Prewarming(
                dispatcher,
                index,
                (engine, prefix, done) -> prewarms.begin(engine(engine.replica()), prefix, done),
                () -> PREWARM_MILLIS,
                false)
            : null;
    lookAtNewcomers();
  }

  private List<DispatchListener> listeners() {
    List<DispatchListener> all = new ArrayList<>();
    if (cluster != null) {
      all.add(cluster);
    }
    all.add(
        new DispatchListener() {
          @Override
          public void assigned(PreparedRequest request, Assignment assignment) {
            if (prewarming != null) {
              prewarming.assigned(request, assignment);
            }
          }
        });
    return all;
  }

  /** Sees to engines that have joined since, if this router does. */
  void lookAtNewcomers() {
    if (prewarming != null) {
      prewarming.look();
    }
  }

  private Cluster cluster(VirtualNetwork network, LongSupplier clock, LongSupplier nanoClock) {
    RouterId id = new RouterId("router-" + number, number);
    return new Cluster(
        id,
        network.link(id),
        EXPIRE_NANOS,
        clock,
        () -> nanoClock.getAsLong() / NANOS_PER_MILLI,
        Cluster.Host.NONE);
  }

  private void add(VirtualEngine engine, FleetPlan plan) {
    Replica replica =
        new Replica("engine-" + engine.number, URI.create("http://virtual"), Set.of("virtual"), 1);
    replica.health(Replica.Health.UP);
    replica.gpuBlocks(plan.engine().cache().blocks());
    replica.transfer(plan.transfer(engine.number));
    int slot = index.addEngine(CopyCounting.PER_COPY);
    if (slot != engine.number) {
      throw new IllegalStateException("slot=" + slot + " engine=" + engine.number);
    }
    index.layout(slot, new CacheLayout(plan.engine().cache().groups(), 1, 0));
    replicas.add(replica);
    byReplica.put(replica, engine);
    routed.add(
        new RoutedBlocks(
            plan.engine().cache().blocks() - 1, (long) (plan.index().millis() * NANOS_PER_MILLI)));
  }

  /** The fleet has got this engine. */
  void join(VirtualEngine engine) {
    fleet.add(replica(engine));
  }

  /** Lets an engine compute a prefix. */
  interface Prewarms {
    /** See {@link Prewarming.Sender}. */
    Runnable begin(VirtualEngine engine, SharedPrefix prefix, Consumer<Prewarming.Answer> done);
  }

  /** The engine is gone for good, and what it held with it. */
  void leave(VirtualEngine engine) {
    index.cleared(engine.number);
    routed(engine).clear();
    fleet.change(List.of(replica(engine)), List.of());
  }

  /** What each engine that stays is worth now, in seconds; without those of which none knows. */
  Map<VirtualEngine, Double> worthSeconds() {
    dispatcher.appraise();
    Map<VirtualEngine, Double> worths = new HashMap<>();
    dispatcher
        .worthSeconds()
        .forEach((name, seconds) -> {
          Replica replica = fleet.find(name).orElseThrow();
          if (!replica.draining()) {
            worths.put(engine(replica), seconds);
          }
        });
    return worths;
  }

  private @Nullable Store store(FleetPlan plan) {
    FleetPlan.Shared shared = plan.beyond().store();
    if (shared == null) {
      return null;
    }
    int slot = index.addEngine(CopyCounting.PRESENCE);
    index.layout(slot, new CacheLayout(plan.engine().cache().groups(), 1, 0));
    StoreRules rules = new StoreRules("store", null, shared.publishes(), "");
    EngineView view = new EngineView(slot, space, Trust.EXACT);
    return new Store(
        rules,
        new Store.Heard() {
          @Override
          public EngineView view() {
            return view;
          }

          @Override
          public long removals() {
            return 1; // it says all that it drops, if it says anything
          }
        });
  }

  /** The store has got a block of a sequence. */
  void put(CachedSequence sequence, int block) {
    if (store != null) {
      StoredBlocks blocks =
          block == 0
              ? put.atRoot(StorageTier.GPU, 0, space.rootKey())
              : put.behind(StorageTier.GPU, 0, sequence.name(block - 1));
      long name = sequence.name(block);
      index.stored(store.view().slot(), blocks.add(name, name));
    }
  }

  /** The store has dropped a block, and says so if it ever does. */
  void dropped(long name) {
    if (store != null && store.rules().publishes()) {
      index.removed(store.view().slot(), new RemovedBlocks().from(StorageTier.GPU, 0).add(name));
    }
  }

  @Override
  public @Nullable Store store(Replica replica) {
    return store;
  }

  /** The replica that is this engine. */
  Replica replica(VirtualEngine engine) {
    return replicas.get(engine.number);
  }

  VirtualEngine engine(Replica replica) {
    return Objects.requireNonNull(byReplica.get(replica));
  }

  RoutedBlocks routed(VirtualEngine engine) {
    return routed.get(engine.number);
  }

  @Override
  public EngineView view(Replica replica, int dpRank) {
    VirtualEngine engine = byReplica.get(replica);
    return engine == null ? EngineView.UNSEEN : engine.view;
  }

  @Override
  public long losses(Replica replica, int dpRank) {
    return engine(replica).losses;
  }

  /** Something of it has changed. */
  void touch() {
    touched = true;
  }

  /** A tick is due; one that would do nothing is left out. */
  void tick(long nowNanos) {
    boolean looks = nowNanos - lookedNanos >= LOOK_NANOS;
    touchedNanos = touched ? nowNanos : touchedNanos;
    if (cluster != null && (nowNanos - touchedNanos <= LOOK_NANOS || looks)) {
      touched = false;
      lookedNanos = looks ? nowNanos : lookedNanos;
      cluster.tick();
    }
  }

  /** What its cluster says of itself. */
  Cluster.Status status() {
    return Objects.requireNonNull(cluster).status();
  }

  /** Whether a request waits here that only a tick may let go on. */
  boolean isWaiting() {
    return dispatcher.queued() > 0;
  }

  /**
   * What a router without events believes that one engine holds: the prompts that it was given, the
   * longest unused first forgotten, no more than fit its cache and none longer than for a time.
   *
   * <p>Single writer.
   */
  static final class RoutedBlocks {

    private final int mostBlocks;
    private final long keepNanos;
    private final LinkedHashMap<Long, Long> usedNanos = new LinkedHashMap<>(16, 0.75f, true);
    private final StoredBlocks stored = new StoredBlocks();
    private final RemovedBlocks removed = new RemovedBlocks();

    RoutedBlocks(int mostBlocks, long keepNanos) {
      this.mostBlocks = mostBlocks;
      this.keepNanos = keepNanos;
    }

    /** A prompt with these blocks was sent there. */
    void given(KvIndex index, int slot, long rootKey, long[] names, long nowNanos) {
      int known = 0;
      while (known < names.length && usedNanos.containsKey(names[known])) {
        known++;
      }
      for (int i = names.length - 1; i >= 0; i--) { // a prompt's end is forgotten before its begin
        usedNanos.put(names[i], nowNanos);
      }
      if (known < names.length) {
        if (known == 0) {
          stored.atRoot(StorageTier.GPU, 0, rootKey);
        } else {
          stored.behind(StorageTier.GPU, 0, names[known - 1]);
        }
        stored.ifAbsent();
        for (int i = known; i < names.length; i++) {
          stored.add(names[i], names[i]);
        }
        index.stored(slot, stored);
      }
      forget(index, slot, nowNanos);
    }

    private void forget(KvIndex index, int slot, long nowNanos) {
      removed.from(StorageTier.GPU, 0);
      Iterator<Map.Entry<Long, Long>> oldest = usedNanos.entrySet().iterator();
      while (oldest.hasNext()) {
        Map.Entry<Long, Long> block = oldest.next();
        if (usedNanos.size() <= mostBlocks && nowNanos - block.getValue() <= keepNanos) {
          break;
        }
        removed.add(block.getKey());
        oldest.remove();
      }
      if (removed.count() > 0) {
        index.removed(slot, removed);
      }
    }

    void clear() {
      usedNanos.clear();
    }
  }
}
