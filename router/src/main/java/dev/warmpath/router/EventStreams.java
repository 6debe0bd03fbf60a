package dev.warmpath.router;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.RingFill;
import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.follow.EventIngest;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.StoreConfig;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Store;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.tokenizer.PromptResult;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Ties the replicas to their event streams: follows those of a configured replica, shows the
 * dispatcher how an engine stands, and tells the streams what other signs say.
 *
 * <p>Thread-safe.
 */
public final class EventStreams implements EngineEvents {

  private final EventIngest ingest;

  /** Replicas whose announcements are only the most that they may reuse. */
  private final Set<String> upperBounds = ConcurrentHashMap.newKeySet();

  /** For each engine how often its stream had seen another process when it was last asked. */
  private final Map<EngineId, Long> restartsSeen = new ConcurrentHashMap<>();

  private final List<StoreConfig> configuredStores;
  private final String onlyModel;
  private final Map<String, Store> stores = new LinkedHashMap<>();
  private final Map<String, Store> storeOfReplica = new ConcurrentHashMap<>();

  private volatile Consumer<Replica> onRestart = replica -> {};

  /** For a fleet without stores that engines share. */
  public EventStreams(EventIngest ingest) {
    this(ingest, List.of(), "");
  }

  /**
   * Follows the events of stores from now on.
   *
   * @param onlyModel for stores that name none
   */
  public EventStreams(EventIngest ingest, List<StoreConfig> stores, String onlyModel) {
    this.ingest = ingest;
    this.configuredStores = stores;
    this.onlyModel = onlyModel;
    for (StoreConfig store : stores) {
      StoreRules rules = store.rules();
      this.stores.put(
          store.name(),
          new Store(
              rules,
              () -> storeView(rules),
              () -> ingest.count(rules.id(), StreamCounter.BLOCKS_REMOVED)));
      if (store.events() != null) {
        ingest.add(source(store, onlyModel));
      }
    }
  }

  private EngineView storeView(StoreRules rules) {
    EngineView view = ingest.view(rules);
    return view == null ? EngineView.UNSEEN : view;
  }

  /** The event stream of a store that has one. */
  static EngineSource source(StoreConfig store, String onlyModel) {
    StoreRules rules = store.rules();
    String model = store.model();
    return new EngineSource(
        rules.id(),
        model == null ? onlyModel : model,
        Objects.requireNonNull(store.events()),
        false,
        null,
        new EngineRules(EngineDialect.VLLM, 0, CopyCounting.PRESENCE, 0).with(rules),
        null,
        EngineSource.ANY_RANK);
  }

  /** The stores that engines share, as configured. */
  public Collection<Store> stores() {
    return stores.values();
  }

  @Override
  public @Nullable Store store(Replica replica) {
    return storeOfReplica.isEmpty() ? null : storeOfReplica.get(replica.name());
  }

  @Override
  public void reused(Store store, ReportedReuse reuse) {
    ingest.reused(store.rules().id(), reuse);
  }

  /** Calls {@code listener} whenever a replica's engines are seen to be other processes. */
  void onRestart(Consumer<Replica> listener) {
    onRestart = listener;
  }

  /** Follows the events of every rank, if the replica has any; of all or, if it throws, of none. */
  public void follow(ReplicaConfig replica, String model) {
    if (replica.dialect().isUpperBound()) {
      upperBounds.add(replica.name());
    }
    Store store = storeFor(replica, model);
    if (store != null) {
      storeOfReplica.put(replica.name(), store);
    }
    try {
      for (EngineSource source : sources(replica, model)) {
        ingest.add(store == null ? source : source.with(store.rules()));
      }
    } catch (RuntimeException e) {
      unfollow(replica);
      throw e;
    }
  }

  /** The first that the replica reads. */
  private @Nullable Store storeFor(ReplicaConfig replica, String model) {
    for (StoreConfig store : configuredStores) {
      if (store.isReadBy(replica.name(), model, onlyModel)) {
        return stores.get(store.name());
      }
    }
    return null;
  }

  /** Forgets all that the replica's events told. */
  void unfollow(ReplicaConfig replica) {
    upperBounds.remove(replica.name());
    storeOfReplica.remove(replica.name());
    for (int rank = 0; rank < replica.ranks(); rank++) {
      EngineId engine = new EngineId(replica.name(), rank);
      ingest.remove(engine);
      restartsSeen.remove(engine);
    }
  }

  /** The event streams of a replica, one for each rank that has an endpoint. */
  public static List<EngineSource> sources(ReplicaConfig replica, String model) {
    List<EngineSource> sources = new ArrayList<>();
    for (int rank = 0; rank < replica.ranks(); rank++) {
      String events = replica.eventsOf(rank);
      if (events != null) {
        sources.add(
            new EngineSource(
                new EngineId(replica.name(), rank),
                model,
                events,
                replica.bind(),
                replica.replayOf(rank),
                rules(replica),
                replica.hashSeed(),
                replica.firstRank() + rank));
      }
    }
    return sources;
  }

  private static EngineRules rules(ReplicaConfig replica) {
    EngineDialect dialect = dialect(replica.dialect());
    CopyCounting removals = replica.removals();
    return new EngineRules(
        dialect,
        replica.dialect() == ReplicaConfig.Dialect.VLLM_EAGLE ? 1 : 0,
        removals == null ? dialect.removals() : removals,
        replica.maxBlocks(),
        replica.sglang(),
        null);
  }

  private static EngineDialect dialect(ReplicaConfig.Dialect dialect) {
    return switch (dialect) {
      case VLLM, VLLM_EAGLE -> EngineDialect.VLLM;
      case SGLANG, SGLANG_HYBRID -> EngineDialect.SGLANG;
      case TRTLLM, TRTLLM_HYBRID -> EngineDialect.TRTLLM;
    };
  }

  @Override
  public void unchanged(Replica replica) {
    engines(replica).forEach(engine -> restartsSeen.put(engine, restarts(engine)));
  }

  /** A stream that saw another process itself since the last time has begun anew already. */
  @Override
  public void restarted(Replica replica, String why) {
    onRestart.accept(replica);
    for (EngineId engine : engines(replica)) {
      if (restarts(engine) == restartsSeen.getOrDefault(engine, 0L)) {
        ingest.restarted(engine, why);
      }
    }
  }

  @Override
  public void recovered(Replica replica) {
    engines(replica).forEach(ingest::recovered);
  }

  @Override
  public void runsSince(Replica replica, double startSeconds) {
    engines(replica).forEach(engine -> ingest.runsSince(engine, startSeconds));
  }

  private long restarts(EngineId engine) {
    return ingest.count(engine, StreamCounter.RESTARTS);
  }

  @Override
  public void gpuBlocks(Replica replica, long blocks) {
    engines(replica).forEach(engine -> ingest.gpuBlocks(engine, blocks));
  }

  @Override
  public void cleared(Replica replica, String why) {
    engines(replica).forEach(engine -> ingest.cleared(engine, why));
  }

  /** Clears what is known of a replica's caches; returns of how many engines. */
  int clear(String replica, String why) {
    List<EngineId> engines =
        ingest.status().stream()
            .map(EngineStatus::id)
            .filter(engine -> engine.replica().equals(replica))
            .toList();
    engines.forEach(engine -> ingest.cleared(engine, why));
    return engines.size();
  }

  /**
   * The replica's engines that are followed. One that has left says nothing of another that has its
   * name now.
   */
  private List<EngineId> engines(Replica replica) {
    return replica.isGone()
        ? List.of()
        : IntStream.range(0, replica.ranks())
            .mapToObj(rank -> new EngineId(replica.name(), rank))
            .filter(engine -> ingest.view(engine) != null)
            .toList();
  }

  @Override
  public void reused(Replica replica, int dpRank, ReportedReuse reuse) {
    if (!replica.isGone()) {
      ingest.reused(new EngineId(replica.name(), dpRank), reuse);
    }
  }

  /** The first of several prompts stands for all. */
  @Override
  public void dispatching(
      Replica replica, int dpRank, BlockChain prompt, PromptResult.Tokens tokens) {
    EngineId id = new EngineId(replica.name(), dpRank);
    ingest.dispatching(id, prompt, () -> tokens.sequences().get(0), tokens.keys());
  }

  @Override
  public EngineView view(Replica replica, int dpRank) {
    EngineView engine = ingest.view(new EngineId(replica.name(), dpRank));
    if (engine == null) {
      return EngineView.UNSEEN;
    }
    boolean atMost = engine.trust() == Trust.EXACT && upperBounds.contains(replica.name());
    return atMost ? engine.with(Trust.SUSPECT) : engine;
  }

  /** How the index and the streams stand, for a scrape. */
  void collect(MetricValues to, Fleet fleet, KvIndex index) {
    IndexTotals totals = index.totals();
    to.add(Metric.INDEX_BYTES, totals.bytes());
    to.add(Metric.INDEX_MAX_BYTES, totals.maxBytes());
    to.add(Metric.INDEX_EVICTED_BLOCKS_TOTAL, totals.evictedBlocks());
    to.add(Metric.INDEX_READ_RETRIES_TOTAL, totals.readRetries());
    to.add(Metric.INDEX_UNANSWERED_QUERIES_TOTAL, totals.unansweredQueries());
    to.add(Metric.INDEX_WRITER_STALLED_SECONDS, ingest.writerStalledSeconds());
    to.add(Metric.EVENT_VISIBLE_SECONDS, ingest.visibleTimes());
    to.add(Metric.REPLAYS_RUNNING, ingest.replaysRunning());
    Set<String> severalRanks =
        fleet.replicas().stream()
            .filter(replica -> replica.ranks() > 1)
            .map(Replica::name)
            .collect(Collectors.toSet());
    for (EngineStatus stream : ingest.status()) {
      EngineId id = stream.id();
      boolean ranked = severalRanks.contains(id.replica());
      String engine = ranked ? id.replica() + "/" + id.dpRank() : id.replica();
      collect(to, stream, engine);
      collect(to, index, engine, stream.slot());
    }
    for (Store store : stores.values()) {
      store.collect(to);
      long[] named = ingest.named(store.rules());
      to.add(Metric.STORE_NAMES_TOTAL, named[0], store.name(), "named");
      to.add(Metric.STORE_NAMES_TOTAL, named[1], store.name(), "nameless");
      int slot = store.view().slot();
      to.add(Metric.STORE_BLOCKS, slot < 0 ? 0 : index.stats(slot).heldBlocks(), store.name());
    }
  }

  private static void collect(MetricValues to, EngineStatus stream, String engine) {
    for (Trust trust : Trust.values()) {
      String label = trust.name().toLowerCase(Locale.ROOT);
      to.add(Metric.EVENT_TRUST, stream.trust() == trust ? 1 : 0, engine, label);
    }
    to.add(Metric.EVENT_TRUST_SINCE_SECONDS, stream.since().toEpochMilli() / 1e3, engine);
    to.add(Metric.LAYOUT_MISMATCH, stream.layoutMismatch() != null ? 1 : 0, engine);
    to.add(Metric.EVENT_HASH_SCHEME, 1, engine, stream.hashScheme());
    to.add(Metric.EVENT_LAG_SECONDS, stream.lagSeconds(), engine);
    to.add(Metric.EVENT_SEQUENCE, stream.lastSequence(), engine);
    RingFill ring = stream.ring();
    to.add(Metric.EVENT_RING_MESSAGES, ring.messages(), engine);
    to.add(Metric.EVENT_RING_BYTES, ring.bytes(), engine);
    to.add(Metric.EVENT_SOCKET_BYTES, stream.socketBytes(), engine);
    to.add(Metric.EVENT_RING_SHARE, (double) ring.messages() / ring.maxMessages(), engine);
    to.add(Metric.EVENT_RING_COMMANDS, ring.commands(), engine);
    to.add(Metric.EVENT_BUFFERED_BATCHES, stream.bufferedBatches(), engine);
    stream
        .counters()
        .forEach((what, count) -> to.add(Metric.EVENT_STREAM_TOTAL, count, engine, what));
  }

  private static void collect(MetricValues to, KvIndex index, String engine, int slot) {
    KvIndex.EngineStats held;
    try {
      held = index.stats(slot);
    } catch (IllegalArgumentException e) {
      return; // it left the fleet between two looks
    }
    to.add(Metric.INDEX_BLOCKS, held.heldBlocks(), engine, "held");
    to.add(Metric.INDEX_BLOCKS, held.namedBlocks(), engine, "named");
    to.add(Metric.INDEX_BLOCKS, held.orphanBlocks(), engine, "orphans");
    to.add(Metric.INDEX_BLOCKS, held.suspendedBlocks(), engine, "suspended");
  }
}
