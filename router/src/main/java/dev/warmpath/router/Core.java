package dev.warmpath.router;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.follow.EventIngest;
import dev.warmpath.eventingest.snapshot.Recovery;
import dev.warmpath.eventingest.snapshot.SnapshotDirectory;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.router.cluster.Cluster;
import dev.warmpath.router.cluster.Neighbours;
import dev.warmpath.router.cluster.RouterId;
import dev.warmpath.router.cluster.WarmStart;
import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.health.EngineImages;
import dev.warmpath.router.health.ModelCatalog;
import dev.warmpath.router.members.HostRules;
import dev.warmpath.router.members.Membership;
import dev.warmpath.router.members.Prewarmer;
import dev.warmpath.router.members.ReplicaCheck;
import dev.warmpath.router.members.ReplicaSource;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.prompt.BodyParser;
import dev.warmpath.router.prompt.InferenceRules;
import dev.warmpath.router.prompt.PromptPool;
import dev.warmpath.router.prompt.PromptPool.BodyWatch;
import dev.warmpath.router.prompt.PromptPool.RemoteReader;
import dev.warmpath.router.prompt.PromptReader;
import dev.warmpath.router.prompt.Tokenizers;
import dev.warmpath.router.prompt.TreeRoom;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.router.tokenize.ImageTap;
import dev.warmpath.router.tokenize.LoadedTokenizers;
import dev.warmpath.router.tokenize.ParityWatch;
import dev.warmpath.router.tokenize.RemotePrompts;
import dev.warmpath.router.tokenize.RemotePrompts.EngineDates;
import dev.warmpath.router.tokenize.TokenizerStatus;
import dev.warmpath.router.upstream.Upstreams;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything of the process but its sockets to clients: index, event streams, tokenizers, fleet,
 * dispatcher.
 *
 * <p>Thread-safe.
 */
final class Core implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Core.class);
  private static final long APPRAISAL_SECONDS = 10;
  private static final long PROOF_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final RouterConfig config;
  private final @Nullable Cluster cluster;
  private final MemoryBudget budget;
  private final TreeRoom trees;
  private final Supplier<RouterConfig> running;
  private final HostRules hosts;
  private final LongSupplier nanoClock;
  private final Metrics metrics;
  private final Upstreams upstreams;
  private final Fleet fleet = new Fleet();
  private final ModelCatalog catalog;
  private final Membership membership;
  private final RestoredState restored;
  private final KvIndex index;
  private final LoadedTokenizers tokenizers;
  private final Recording recording;
  private final EventIngest ingest;
  private final EventStreams streams;
  private final Dispatcher dispatcher;
  private final InferenceRules rules;
  private final Tokenizers models;
  private final Prewarmer prewarmer;
  private final ConfiguredModels configured;
  private final ScheduledExecutorService appraisals;
  private final @Nullable ParityWatch parity;
  private final @Nullable RemotePrompts remote;
  private final BodyParser bodies;
  private final PromptPool prompts;
  private @Nullable SnapshotKeeper snapshotKeeper;
  private volatile Consumer<List<ReplicaConfig>> fleetListener = replicas -> {};
  private final CompletableFuture<WarmStart.Outcome> seeded = new CompletableFuture<>();
  private volatile @Nullable Neighbours neighbours;
  private volatile WarmStart.@Nullable Outcome grafted;
  private volatile long seedProofNanos;

  /**
   * @param running the configuration that holds; what a reload cannot change is read once
   * @param cluster null if this router is alone
   */
  Core(
      Supplier<RouterConfig> running,
      Environment environment,
      Metrics metrics,
      Upstreams upstreams,
      @Nullable Cluster cluster) {
    this.config = running.get();
    this.cluster = cluster;
    this.running = running;
    this.budget = MemoryBudget.of(config);
    this.trees = new TreeRoom(budget.treeBytes());
    this.hosts = new HostRules(config.fleet().hostPatterns());
    this.nanoClock = environment.nanoClock();
    this.metrics = metrics;
    this.upstreams = upstreams;
    this.catalog = new ModelCatalog(fleet, this::isSglang);
    this.restored = readSnapshot(config, environment);
    this.tokenizers = tokenizers(config, environment, restored);
    this.models = new Tokenizers(tokenizers, catalog);
    this.index = environment.watch().apply(restored.index());
    this.recording = recording(environment);
    this.ingest =
        new EventIngest(
            index,
            environment.clocks(),
            config.ingest().options(budget),
            restored.engines(),
            recording.events());
    this.streams = new EventStreams(ingest, config.stores(), config.onlyModel());
    this.membership = membership(environment);
    this.bodies =
        new BodyParser(
            config.limits().jsonDepth(), LoadedTokenizers.CacheSizes.of(config).bodyBytes());
    this.parity = parity(environment);
    this.remote =
        config.tokenizing().asksEngines()
            ? new RemotePrompts(
                running,
                upstreams,
                new RemotePrompts.Sources(
                    fleet,
                    models::adapterOf,
                    new EngineDates(running, models::modelOf, environment.clock()),
                    budget.renderedBytes(),
                    environment.nanoClock(),
                    metrics.registry()))
            : null;
    this.dispatcher =
        new Dispatcher(
            fleet,
            index,
            streams,
            Policies.named(config.policy().name(), config.policy().options()),
            limits(config),
            new Dispatcher.Environment(
                environment.nanoClock(), environment.random(), metrics, listeners()));
    this.prewarmer =
        new Prewarmer(
            dispatcher, index, upstreams, running, () -> cluster == null || cluster.isFirst());
    this.configured = new ConfiguredModels(models);
    configured.apply(config, config, dispatcher);
    this.appraisals = Executors.newSingleThreadScheduledExecutor(Core::appraisalThread);
    var unused =
        appraisals.scheduleWithFixedDelay(
            this::appraise, APPRAISAL_SECONDS, APPRAISAL_SECONDS, TimeUnit.SECONDS);
    this.rules = new InferenceRules(environment.random());
    this.prompts = newPrompts();
    try {
      fleet.onRemoval(this::removed);
      streams.onRestart(this::restarted);
      membership.begin(
          config.replicas(),
          config.onlyModel(),
          config.discovery().stream()
              .map(source -> new ReplicaSource(source, rules, environment.nanoClock()))
              .toList());
    } catch (RuntimeException e) {
      close();
      throw new StartException(String.valueOf(e.getMessage()), e);
    }
    if (seedWaitMs(config) == 0) {
      seeded.complete(WarmStart.Outcome.NOBODY_HAS_STATE);
    }
    this.snapshotKeeper = restored.keep(ingest, config.snapshot(), environment.nanoClock());
  }

  private static Thread appraisalThread(Runnable run) {
    Thread thread = new Thread(run, "warmpath-appraisals");
    thread.setDaemon(true);
    return thread;
  }

  private void appraise() {
    try {
      dispatcher.appraise();
      if (cluster == null || cluster.isFirst()) {
        membership.worth(dispatcher.worthSeconds());
      }
    } catch (RuntimeException e) {
      LOG.error("what replicas are worth could not be found out", e);
    }
  }

  /** How long to wait for a neighbour's snapshot; 0 if there are no neighbours. */
  private static int seedWaitMs(RouterConfig config) {
    return config.cluster().mode() == ClusterConfig.Mode.OFF ? 0 : config.cluster().seedWaitMs();
  }

  /**
   * Begins to look for a neighbour's snapshot, and gives snapshots to others from then on; once, if
   * there may be neighbours. Whoever has the link hands over what it hears, and closes it.
   *
   * @param send brings a message to another router, or does not; never waits
   * @param ready whether this router is ready
   * @param work has more than one thread
   */
  Neighbours meetNeighbours(
      BiConsumer<RouterId, byte[]> send, BooleanSupplier ready, Executor work) {
    SnapshotDirectory kept = restored.directory();
    Path folder = kept == null ? Path.of(System.getProperty("java.io.tmpdir")) : kept.path();
    Neighbours all =
        new Neighbours(
            new Neighbours.Environment(send, work, nanoClock, folder),
            restored.source(ingest, ready, nanoClock),
            restored.graft(ingest, this::seedEnded),
            RestoredState.maxBytes(config.snapshot()),
            seedWaitMs(config));
    neighbours = all;
    return all;
  }

  private void seedEnded(WarmStart.Outcome outcome) {
    seedProofNanos = nanoClock.getAsLong();
    grafted = outcome;
    awaitProof();
  }

  /**
   * Lets time pass: a seed counts when what the engines say since has proven it, or has had the
   * time to.
   */
  void awaitProof() {
    WarmStart.Outcome outcome = grafted;
    if (outcome == null || seeded.isDone()) {
      return;
    }
    Recovery.Report report = restored.recovery().report();
    boolean isProven = report.begun() && report.over();
    if (outcome != WarmStart.Outcome.SEEDED
        || isProven
        || nanoClock.getAsLong() - seedProofNanos > PROOF_NANOS) {
      seeded.complete(outcome);
    }
  }

  /** How the start from a neighbour stands; null if there are none. */
  @Nullable String seed() {
    Neighbours met = neighbours;
    return met == null ? null : met.outcome().label();
  }

  /** Done when nothing more is awaited of neighbours, at once if there are none. */
  CompletableFuture<WarmStart.Outcome> seeded() {
    return seeded.copy();
  }

  private Membership membership(Environment environment) {
    Membership.Follower followed =
        new Membership.Follower() {
          @Override
          public void follow(ReplicaConfig replica, String model) {
            prepare(replica);
            try {
              recording.follow(EventStreams.sources(replica, model));
              streams.follow(replica, model);
            } catch (RuntimeException e) {
              upstreams.release(replica.url(), replica.upstream());
              throw e;
            }
          }

          @Override
          public void entering(Replica replica, ReplicaConfig config, @Nullable String address) {
            upstreams.add(replica, config.upstream(), address);
          }

          @Override
          public void unfollow(ReplicaConfig replica) {
            streams.unfollow(replica);
            upstreams.release(replica.url(), replica.upstream());
          }

          @Override
          public void allKnown() {
            ingest.dropUnclaimed();
          }

          @Override
          public void changed(List<ReplicaConfig> replicas) {
            tokenizers.follow(replicas);
            prewarmer.look(); // before requests can go to one that joins
            fleetListener.accept(replicas);
          }
        };
    return new Membership(
        new Membership.Environment(
            fleet,
            followed,
            check(),
            () -> running.get().fleet().drainMs(),
            environment.nanoClock(),
            work -> {
              Thread thread = new Thread(work, "warmpath-membership");
              thread.setDaemon(true);
              return thread;
            }));
  }

  private void prepare(ReplicaConfig replica) {
    try {
      upstreams.prepare(replica.url(), replica.upstream());
    } catch (IOException e) {
      throw new IllegalArgumentException("replica " + replica.name() + ": " + e.getMessage(), e);
    }
  }

  /** Whether the replica was said to run SGLang. */
  boolean isSglang(Replica replica) {
    return membership.config(replica).filter(known -> known.dialect().isSglang()).isPresent();
  }

  private @Nullable ParityWatch parity(Environment environment) {
    return config.parity().enabled()
        ? new ParityWatch(
            running,
            upstreams,
            new ParityWatch.Sources(
                fleet,
                tokenizers,
                models::modelOf,
                bodies,
                trees,
                budget.comparedBytes(),
                environment.nanoClock()))
        : null;
  }

  private List<DispatchListener> listeners() {
    List<DispatchListener> listeners = new ArrayList<>(recording.requests());
    listeners.add(
        new ImageTap(
            streams,
            asked -> {
              String model = models.modelOf(asked);
              TokenizerStatus known = model == null ? null : tokenizers.status(model);
              ModelTokenizer tokenizer = known == null ? null : known.tokenizer();
              return tokenizer == null ? null : tokenizer.images();
            }));
    if (parity != null) {
      listeners.add(parity.requests());
    }
    if (cluster != null) {
      listeners.add(cluster);
    }
    return listeners;
  }

  /** Begins to read what an earlier process has left; nobody waits for it. */
  private static RestoredState readSnapshot(RouterConfig config, Environment environment) {
    try {
      RestoredState restored =
          RestoredState.open(
              config.snapshot(),
              environment.dataDirectory(),
              indexLimits(config),
              environment.clock(),
              environment.nanoClock());
      if (seedWaitMs(config) == 0) {
        restored.readDirectory();
      }
      return restored;
    } catch (IOException e) {
      throw new StartException("snapshot.dir: " + e.getMessage(), e);
    }
  }

  private Recording recording(Environment environment) {
    String onlyModel = config.onlyModel();
    List<EngineSource> engines =
        config.replicas().stream()
            .map(replica -> EventStreams.sources(replica, replica.blockModel(onlyModel)))
            .flatMap(List::stream)
            .toList();
    SnapshotDirectory kept = restored.directory();
    try {
      Path mine = kept != null && kept.isTaken() ? kept.path() : null;
      return Recording.begin(config, environment, engines, mine);
    } catch (StartException e) {
      tokenizers.close();
      restored.leaveDirectory();
      throw e;
    }
  }

  private static LoadedTokenizers tokenizers(
      RouterConfig config, Environment environment, RestoredState restored) {
    LoadedTokenizers tokenizers = LoadedTokenizers.begin(config, environment.nanoClock());
    if (!config.tokenizing().waitForModels()) {
      return tokenizers;
    }
    String problem;
    try {
      problem = tokenizers.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      problem = "interrupted while tokenizers were loaded";
    }
    if (problem != null) {
      tokenizers.close();
      restored.leaveDirectory();
      throw new StartException(problem);
    }
    return tokenizers;
  }

  private static Dispatcher.Limits limits(RouterConfig config) {
    return new Dispatcher.Limits(
        expectedBlocks(config.index()),
        config.limits().replicaRequests(),
        config.queue().requests());
  }

  /**
   * Applies another configuration. The fleet comes first, as it alone may refuse its change: what
   * follows was checked when {@code now} was read.
   */
  void reload(RouterConfig before, RouterConfig now) {
    if (!now.replicas().equals(before.replicas()) || !now.models().equals(before.models())) {
      membership.configure(now.replicas(), now.onlyModel());
    }
    if (!now.stores().equals(before.stores()) || !now.onlyModel().equals(before.onlyModel())) {
      streams.share(now.stores(), now.onlyModel());
    }
    dispatcher.limits(limits(now));
    if (!now.models().equals(before.models())) {
      tokenizers.configure(now.models());
    }
    configured.apply(before, now, dispatcher);
  }

  private static IndexLimits indexLimits(RouterConfig config) {
    return new IndexLimits(config.index().orphanBlocks(), MemoryBudget.of(config).indexBytes());
  }

  private static ExpectedBlocks.Limits expectedBlocks(RouterConfig.Index bounds) {
    return new ExpectedBlocks.Limits(
        bounds.expectedBlocks(),
        TimeUnit.MILLISECONDS.toNanos(bounds.expectedTtlMs()),
        TimeUnit.MILLISECONDS.toNanos(bounds.expectedSettleMs()));
  }

  private PromptPool newPrompts() {
    AtomicInteger count = new AtomicInteger();
    return new PromptPool(
        new PromptReader(
            models,
            bodies,
            trees,
            configured::modelOf,
            rules,
            new EngineImages(fleet, catalog, streams)::of),
        parity == null ? BodyWatch.NONE : parity,
        remote == null ? RemoteReader.NONE : remote,
        config.tokenizing(),
        work -> {
          Thread thread = new Thread(work, "warmpath-tokenizer-" + count.incrementAndGet());
          thread.setDaemon(true);
          return thread;
        },
        runningNanos());
  }

  /** How long the calling thread has run; where the platform does not tell, what clocks say. */
  private LongSupplier runningNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    boolean tells = threads.isCurrentThreadCpuTimeSupported() && threads.isThreadCpuTimeEnabled();
    return tells ? threads::getCurrentThreadCpuTime : nanoClock;
  }

  BodyParser bodies() {
    return bodies;
  }

  private ReplicaCheck check() {
    return new ReplicaCheck() {
      // whoever names its own address: requests would come back here and circle
      @Override
      public Verdict judge(String source, ReplicaConfig replica) {
        return running.get().leadsHere(replica)
            ? Verdict.refused("its url is the router's own address")
            : hosts.judge(source, replica);
      }

      @Override
      public boolean mayFollow(ReplicaConfig replica, String host) {
        return hosts.mayFollow(replica, host);
      }
    };
  }

  /** Calls {@code listener} with the replicas whenever they have changed. */
  void onFleetChange(Consumer<List<ReplicaConfig>> listener) {
    fleetListener = listener;
  }

  Metrics metrics() {
    return metrics;
  }

  Fleet fleet() {
    return fleet;
  }

  Membership membership() {
    return membership;
  }

  ModelCatalog catalog() {
    return catalog;
  }

  /** The configured model that another name means. */
  String modelOf(String name) {
    return configured.modelOf(name);
  }

  KvIndex index() {
    return index;
  }

  /** How everything here stands, for a scrape. */
  void collect(MetricValues to) {
    dispatcher.collect(to);
    membership.collect(to);
    streams.collect(to, fleet, index, nanoClock.getAsLong());
    prompts.collect(to);
    bodies.collect(to);
    tokenizers.collect(to);
    if (parity != null) {
      parity.collect(to);
    }
    if (remote != null) {
      remote.collect(to);
    }
    recording.collect(to);
    SnapshotKeeper.Status snapshots =
        snapshotKeeper == null ? SnapshotKeeper.Status.NONE : snapshotKeeper.status();
    snapshots.collect(to, nanoClock.getAsLong());
    restored.collect(to);
    Neighbours met = neighbours;
    if (met != null) {
      met.collect(to);
    }
  }

  /** What is written down of requests. */
  Recording recording() {
    return recording;
  }

  EventIngest ingest() {
    return ingest;
  }

  EventStreams streams() {
    return streams;
  }

  Dispatcher dispatcher() {
    return dispatcher;
  }

  /** Lets engines compute what sessions share. */
  Prewarmer prewarmer() {
    return prewarmer;
  }

  InferenceRules rules() {
    return rules;
  }

  /** Compares our tokens with the engines'; null if that is not wanted. */
  @Nullable ParityWatch parity() {
    return parity;
  }

  /** Asks engines for prompts; null if that is not wanted. */
  @Nullable RemotePrompts remote() {
    return remote;
  }

  private void removed(Replica replica) {
    if (parity != null) {
      parity.forget(replica);
    }
    if (remote != null) {
      remote.removed(replica);
    }
    upstreams.remove(replica);
  }

  private void restarted(Replica replica) {
    if (parity != null) {
      parity.forget(replica);
    }
    if (remote != null) {
      remote.restarted(replica);
    }
  }

  Tokenizers models() {
    return models;
  }

  LoadedTokenizers tokenizers() {
    return tokenizers;
  }

  PromptPool prompts() {
    return prompts;
  }

  @Override
  public void close() {
    appraisals.shutdownNow();
    prewarmer.close();
    membership.close();
    prompts.close();
    if (parity != null) {
      parity.close();
    }
    if (remote != null) {
      remote.close();
    }
    if (snapshotKeeper != null) {
      snapshotKeeper.close();
    }
    ingest.close();
    recording.close();
    restored.leaveDirectory();
    tokenizers.close();
    metrics.close();
  }
}
