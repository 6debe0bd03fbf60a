package dev.warmpath.router;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.ImageWaits;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.RingFill;
import dev.warmpath.eventingest.SentImages;
import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.apply.SharedStore;
import dev.warmpath.eventingest.follow.EventIngest;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.StoreConfig;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Store;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.image.PlacedImages;
import dev.warmpath.tokenizer.image.PromptImage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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

  private volatile String onlyModel;

  /** By name. */
  private volatile Map<String, SharedBy> stores = Map.of();

  private final Map<String, Reader> readers = new ConcurrentHashMap<>();

  /** A store, and how it is configured. */
  private record SharedBy(StoreConfig config, Store store) {}

  /** A followed replica, and the store that it reads. */
  private record Reader(String model, int ranks, @Nullable Store store) {}

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
    this.onlyModel = onlyModel;
    share(stores, onlyModel);
  }

  /**
   * These are the stores from now on. One that is as before but for its readers keeps what is known
   * of it, and so do all replicas.
   *
   * @param model for stores that name none
   */
  public synchronized void share(List<StoreConfig> configured, String model) {
    Map<String, SharedBy> before = stores;
    boolean sameModel = model.equals(onlyModel);
    onlyModel = model;
    Map<String, SharedBy> now = new LinkedHashMap<>();
    for (StoreConfig store : configured) {
      SharedBy known = before.get(store.name());
      now.put(
          store.name(),
          known != null && isSame(known.config, store) && (sameModel || store.model() != null)
              ? new SharedBy(store, known.store)
              : new SharedBy(store, new Store(store.rules(), heard(store))));
    }
    stores = now;
    List<StoreRules> dropped = new ArrayList<>();
    for (SharedBy old : before.values()) {
      SharedBy kept = now.get(old.config.name());
      if (kept == null || kept.store != old.store) {
        ingest.remove(old.store.rules().id());
        dropped.add(old.store.rules());
      }
    }
    Map<EngineId, Optional<StoreRules>> leaving = new HashMap<>();
    Map<EngineId, Optional<StoreRules>> changed = new HashMap<>();
    readers.replaceAll((name, reader) -> {
      Store store = storeFor(name, reader.model);
      if (store != reader.store) {
        Optional<StoreRules> rules = Optional.ofNullable(store).map(Store::rules);
        for (int rank = 0; rank < reader.ranks; rank++) {
          leaving.put(new EngineId(name, rank), Optional.empty());
          changed.put(new EngineId(name, rank), rules);
        }
      }
      return new Reader(reader.model, reader.ranks, store);
    });
    if (!changed.isEmpty() || !dropped.isEmpty()) {
      ingest.share(leaving, dropped); // first: a new store may have the rules of an old one
      ingest.share(changed, List.of());
    }
    for (SharedBy store : now.values()) {
      SharedBy known = before.get(store.config.name());
      if (store.config.events() != null && (known == null || known.store != store.store)) {
        ingest.add(source(store.config, onlyModel));
      }
    }
  }

  private static boolean isSame(StoreConfig before, StoreConfig now) {
    return before.rules().equals(now.rules())
        && Objects.equals(before.events(), now.events())
        && Objects.equals(before.model(), now.model());
  }

  private Store.Heard heard(StoreConfig store) {
    StoreRules rules = store.rules();
    return new Store.Heard() {
      @Override
      public EngineView view() {
        EngineView view = ingest.view(rules);
        return view == null ? EngineView.UNSEEN : view;
      }

      @Override
      public long removals() {
        return ingest.count(rules.id(), StreamCounter.BLOCKS_REMOVED);
      }

      @Override
      public long silentNanos() {
        SharedStore known = ingest.store(rules);
        return known == null ? 0 : known.silentNanos();
      }

      @Override
      public long toldMeanwhile() {
        SharedStore known = ingest.store(rules);
        return known == null ? 0 : known.toldMeanwhile();
      }
    };
  }

  /** The event stream of a store that has one. */
  public static EngineSource source(StoreConfig store, String onlyModel) {
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

  @Override
  public Collection<Store> stores() {
    return stores.values().stream().map(SharedBy::store).toList();
  }

  @Override
  public @Nullable Store store(Replica replica) {
    if (stores.isEmpty()) {
      return null;
    }
    Reader reader = readers.get(replica.name());
    return reader == null ? null : reader.store;
  }

  /** How many blocks a store holds, and how many of those that it was said to hold have a name. */
  @Override
  public StoreBlocks blocks(Store store) {
    SharedStore known = ingest.store(store.rules());
    return known == null
        ? StoreBlocks.NONE
        : new StoreBlocks(known.heldBlocks(), known.named(), known.nameless());
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
  public synchronized void follow(ReplicaConfig replica, String model) {
    if (replica.dialect().isUpperBound()) {
      upperBounds.add(replica.name());
    }
    Store store = storeFor(replica.name(), model);
    readers.put(replica.name(), new Reader(model, replica.ranks(), store));
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
  private @Nullable Store storeFor(String replica, String model) {
    for (SharedBy shared : stores.values()) {
      if (shared.config.isReadBy(replica, model, onlyModel)) {
        return shared.store;
      }
    }
    return null;
  }

  /** Forgets all that the replica's events told. */
  synchronized void unfollow(ReplicaConfig replica) {
    upperBounds.remove(replica.name());
    readers.remove(replica.name());
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
    EngineView view = tokens.hasImages() ? ingest.view(id) : null;
    PromptKeys keys = view == null ? null : tokens.keys(view.imageForm());
    ingest.dispatching(
        id, prompt, () -> tokens.sequences().get(0), keys == null ? tokens.keys() : keys);
  }

  @Override
  public void sendingImages(Replica replica, int dpRank, PlacedImages images) {
    EngineId id = new EngineId(replica.name(), dpRank);
    EngineView view = ingest.view(id);
    ImageForm form = view == null ? null : view.imageForm();
    if (form == null) {
      ingest.sendingImages(id, images.names());
    }
    ingest.sendingImages(id, sent(images, form));
  }

  private static SentImages sent(PlacedImages images, @Nullable ImageForm form) {
    List<SentImages.Place> places = new ArrayList<>();
    for (PromptImage image : images.images()) {
      places.add(
          new SentImages.Place(
              image.from(),
              Math.max(1, image.lengthTokens()),
              image.isSure(),
              image.pad(),
              image.sureNames(form),
              new Shown(image)));
    }
    return new SentImages(images, images.ids(), images.firstKeys(form), places);
  }

  /** An image that an engine may show. */
  private static final class Shown implements SentImages.Source {
    private final PromptImage image;

    Shown(PromptImage image) {
      this.image = image;
    }

    @Override
    public void learned(String identifier, int[] run) {
      image.shown(identifier, run);
    }

    @Override
    public void withdrawn(String identifier) {
      image.learned().withdraw(identifier);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Shown shown && shown.image.learned().equals(image.learned());
    }

    @Override
    public int hashCode() {
      return image.learned().hashCode();
    }
  }

  @Override
  public void sendingUnread(Replica replica, int dpRank, Object request) {
    ingest.sendingUnread(new EngineId(replica.name(), dpRank), request);
  }

  @Override
  public void endedImages(Replica replica, int dpRank, Object request, boolean foundAll) {
    ingest.endedImages(new EngineId(replica.name(), dpRank), request, foundAll);
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

  @Override
  public boolean isConnected(Replica replica, int dpRank) {
    return ingest.isConnected(new EngineId(replica.name(), dpRank));
  }

  @Override
  public long losses(Replica replica, int dpRank) {
    EngineId engine = new EngineId(replica.name(), dpRank);
    return ingest.count(engine, StreamCounter.CLEARS)
        + ingest.count(engine, StreamCounter.SUSPENDED_BLOCKS);
  }

  /** How the index and the streams stand, for a scrape. */
  void collect(MetricValues to, Fleet fleet, KvIndex index, long nowNanos) {
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
      EngineView view = ingest.view(id);
      if (view != null && view.imageForm() != null) {
        to.add(Metric.EVENT_IMAGE_FORM, 1, engine, view.imageForm().label());
      }
      ImageWaits images = ingest.imageWaits(id);
      to.add(Metric.EVENT_IMAGE_WAITS, images.names(), engine, "name");
      to.add(Metric.EVENT_IMAGE_WAITS, images.chats(), engine, "chat");
      to.add(Metric.EVENT_IMAGE_WAITS, images.unread(), engine, "unread");
      to.add(Metric.EVENT_IMAGE_BYTES, images.bytes(), engine);
    }
    for (Store store : stores()) {
      store.collect(to, nowNanos);
      StoreBlocks blocks = blocks(store);
      to.add(Metric.STORE_NAMES_TOTAL, blocks.named(), store.name(), "named");
      to.add(Metric.STORE_NAMES_TOTAL, blocks.nameless(), store.name(), "nameless");
      to.add(Metric.STORE_BLOCKS, blocks.held(), store.name());
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
