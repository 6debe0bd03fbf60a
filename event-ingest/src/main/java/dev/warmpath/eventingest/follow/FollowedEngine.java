package dev.warmpath.eventingest.follow;

import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.ImageWaits;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.SentImages;
import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.TrustState;
import dev.warmpath.eventingest.VisibleTimes;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.apply.SharedStore;
import dev.warmpath.eventingest.hashing.KnownScheme;
import dev.warmpath.eventingest.hashing.PromptHasher;
import dev.warmpath.eventingest.hashing.PromptHasher.HashedPrompt;
import dev.warmpath.eventingest.snapshot.EngineSnapshot;
import dev.warmpath.eventingest.snapshot.EngineSnapshot.Identity;
import dev.warmpath.eventingest.snapshot.RestoredEngines.Adopted;
import dev.warmpath.eventingest.stream.EngineStream;
import dev.warmpath.eventingest.stream.StreamSockets;
import dev.warmpath.eventingest.transport.EventSubscriber;
import dev.warmpath.eventingest.transport.LiveSink;
import dev.warmpath.eventingest.transport.ReplayClient;
import dev.warmpath.eventingest.transport.ReplayClient.ReplaySink;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.PromptKeys;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;

/**
 * One engine's sockets and stream, tied together: the sockets' threads hand everything to the
 * engine's ring, and the writer alone runs the stream.
 *
 * <p>The writer begins the engine first. While it still waits for an earlier process's snapshot,
 * all that is heard and told waits in the ring, and nothing is known of the engine.
 *
 * <p>Thread-safe; {@link #begin}, {@link #stream} and {@link #remove} are the writer's.
 */
final class FollowedEngine implements StreamSockets, LiveSink, EngineRing.Owner {

  private final EngineSource source;
  private final EngineRing ring;
  private final ReplayClient replayClient;
  private final ScheduledExecutorService repairReplays;
  private final ScheduledExecutorService checkReplays;
  private final StreamTap tap;
  private final StreamCounters counters = new StreamCounters();
  private final Shared shared;
  private final EventSubscriber subscriber;

  /** What the writer runs, once it has begun. */
  private record Begun(EventApplier applier, EngineStream stream) {}

  private volatile @Nullable Begun begun;

  /** The store that it reads; the writer's. */
  private @Nullable StoreRules store;

  private volatile TrustState waiting;

  private static final int NO_SLOT = -1;
  private static final long NOTHING_HEARD = -1;

  private static final Logger LOG = LoggerFactory.getLogger(FollowedEngine.class);

  /** Its local hash, its key in the chain and the engine's hash. */
  private static final int BYTES_A_BLOCK = 3 * Long.BYTES;

  private final Clocks clocks;
  private final ReplayBackoff backoff;
  private final AtomicBoolean missed = new AtomicBoolean();
  private volatile boolean removed;
  private volatile boolean isUp;
  private volatile long firstHeard = NOTHING_HEARD;
  private volatile long lagNanos;
  private volatile @Nullable String layoutMismatch;
  private final VisibleTimes visibleTimes;
  private final PromptHasher promptHasher;

  /** What all engines of a fleet share. */
  record Shared(
      KvIndex index,
      Clocks clocks,
      IngestOptions options,
      Function<EngineRing.Owner, EngineRing> rings,
      ZContext context,
      ReplayClient replayClient,
      ScheduledExecutorService repairReplays,
      ScheduledExecutorService checkReplays,
      StreamTap tap,
      VisibleTimes visibleTimes,
      PromptHasher promptHasher,
      SharedStores stores) {}

  FollowedEngine(EngineSource source, Shared shared) {
    this.source = source;
    this.shared = shared;
    store = source.rules().store();
    ring = shared.rings().apply(this);
    replayClient = shared.replayClient();
    repairReplays = shared.repairReplays();
    checkReplays = shared.checkReplays();
    visibleTimes = shared.visibleTimes();
    promptHasher = shared.promptHasher();
    tap = shared.tap();
    clocks = shared.clocks();
    waiting = waiting(Trust.CATCHING_UP, "the snapshot is being read");
    backoff = new ReplayBackoff(shared.options().backoff(), source.id().hashCode());
    subscriber =
        new EventSubscriber(
            shared.context(),
            source.endpoint(),
            source.bind(),
            this,
            shared.options().ring().bytes());
  }

  /**
   * Gives the engine its slot in the index, before anything else of its ring is run.
   *
   * @param adopted what an earlier process knew of the engine, or null
   */
  void begin(@Nullable Adopted adopted) {
    EventApplier applier = applier(shared.index(), adopted);
    EngineStream stream =
        new EngineStream(applier, this, shared.options().stream(), clocks.nanoClock(), counters);
    if (adopted != null) {
      stream.resume(adopted.stream(), adopted.listener());
      stream.expectHeld();
      tell(stream::heldEnded);
    }
    begun = new Begun(applier, stream);
  }

  private EventApplier applier(KvIndex index, @Nullable Adopted adopted) {
    SharedStore store = shared(this.store);
    return adopted == null
        ? new EventApplier(index, source, counters, store)
        : new EventApplier(
            index, source, counters, store, adopted.slot(), adopted.stream().learned());
  }

  private @Nullable SharedStore shared(@Nullable StoreRules rules) {
    return rules == null ? null : shared.stores().of(rules);
  }

  /** The engine reads another store from now on, or none; the writer's. */
  void reads(@Nullable StoreRules rules) {
    store = rules;
    if (hasBegun() && !removed) {
      applier().reads(shared(rules));
    }
  }

  private TrustState waiting(Trust trust, String why) {
    return new TrustState(trust, why, clocks.nanoClock().getAsLong());
  }

  /** Whether the writer has begun it. */
  boolean hasBegun() {
    return begun != null;
  }

  private Begun begun() {
    Begun now = begun;
    if (now == null) {
      throw new IllegalStateException("engine=" + id() + " has not begun");
    }
    return now;
  }

  private EventApplier applier() {
    return begun().applier();
  }

  /** What another process needs to go on with the engine. */
  EngineSnapshot snapshot(KvIndex index) {
    long namedBlocks = index.stats(slot()).namedBlocks();
    return new EngineSnapshot(Identity.of(source), slot(), namedBlocks, stream().snapshot());
  }

  /** Whether it is a store that engines read, and no engine. */
  boolean isStore() {
    return source.isStore();
  }

  EventSubscriber subscriber() {
    return subscriber;
  }

  EngineStream stream() {
    return begun().stream();
  }

  EngineRing ring() {
    return ring;
  }

  EngineId id() {
    return source.id();
  }

  /** How its blocks differ from those of other engines of its model, or null. */
  @Nullable String layoutMismatch() {
    return layoutMismatch;
  }

  void layoutMismatch(@Nullable String mismatch) {
    layoutMismatch = mismatch;
  }

  /** Its slot in the index, −1 before it has begun. */
  int slot() {
    Begun now = begun;
    return now == null ? NO_SLOT : now.applier().slot();
  }

  /** Frees the engine's slot; what still waits is passed over. */
  void remove() {
    removed = true;
    ring.close();
    if (hasBegun()) {
      stream().removed();
      applier().remove();
    }
  }

  EventIngest.Heard heard() {
    return new EventIngest.Heard(source.id(), isUp, firstHeard);
  }

  EngineView view() {
    Begun now = begun;
    if (now == null) {
      return new EngineView(NO_SLOT, null, waiting.trust());
    }
    EventApplier applier = now.applier();
    return new EngineView(
        applier.slot(),
        applier.space(),
        now.stream().trust().trust(),
        applier.slowTier(),
        source.rules().namespaces(),
        applier.imageForm());
  }

  /** Images are about to be sent there that may have these names. */
  void sendingImages(Map<String, ImageForm> names) {
    Begun now = begun;
    if (now != null) {
      now.applier().sentImages(names);
    }
  }

  /** A chat with images is about to be sent there. */
  void sendingImages(SentImages chat) {
    Begun now = begun;
    if (now != null) {
      now.applier().sentImages(chat, clocks.nanoClock().getAsLong());
    }
  }

  /** A chat is about to be sent there that may have images of which nothing is known. */
  void sendingUnread(Object request) {
    Begun now = begun;
    if (now != null) {
      now.applier().sentUnread(request, clocks.nanoClock().getAsLong());
    }
  }

  void endedImages(Object request, boolean foundAll) {
    Begun now = begun;
    if (now != null) {
      now.applier().endedImages(request, foundAll, clocks.nanoClock().getAsLong());
    }
  }

  ImageWaits imageWaits() {
    Begun now = begun;
    return now == null ? ImageWaits.NOTHING : now.applier().imageWaits();
  }

  long count(StreamCounter counter) {
    return counters.get(counter);
  }

  EngineStatus status() {
    Begun now = begun;
    TrustState trust = now == null ? waiting : now.stream().trust();
    long trustNanos = clocks.nanoClock().getAsLong() - trust.sinceNanos();
    double lagSeconds = (trust.trust() == Trust.CATCHING_UP ? trustNanos : lagNanos) / 1e9;
    return new EngineStatus(
        source.id(),
        slot(),
        trust.trust(),
        trust.reason(),
        clocks.wallClock().instant().minusNanos(trustNanos).truncatedTo(ChronoUnit.MILLIS),
        now == null ? -1 : now.stream().lastSequence(),
        now == null ? null : now.applier().space(),
        now == null ? EventApplier.UNKNOWN_SCHEME : now.applier().hashScheme(),
        counters.snapshot(),
        lagSeconds,
        ring.fill(),
        subscriber.queuedBytes(),
        now == null ? 0 : now.stream().bufferedBatches(),
        layoutMismatch);
  }

  @Override
  public void message(byte[] topic, StreamMessage message) {
    tap.live(source.id(), topic, message);
    if (firstHeard == NOTHING_HEARD) {
      firstHeard = message.sequence();
    }
    if (!ring.add(message)) {
      refused();
    }
  }

  @Override
  public void refused() {
    counters.add(StreamCounter.QUEUE_OVERFLOWS);
    if (missed.compareAndSet(false, true)) {
      tell(this::missed);
    }
  }

  @Override
  public void problem(StreamCounter what) {
    counters.add(what);
  }

  /** An engine said how much of a prompt it reused. */
  void reused(ReportedReuse reuse) {
    if (!ring.offer(unlessRemoved(() -> stream().reused(reuse)), weight(reuse.prompt()))) {
      counters.add(StreamCounter.REUSES_SKIPPED);
    }
  }

  /** The engine is given a prompt; if that may bring names back that were lost, it is hashed. */
  void dispatching(BlockChain prompt, Supplier<int[]> tokenIds, PromptKeys keys) {
    Begun now = begun;
    KnownScheme scheme = now == null ? null : now.applier().wanted();
    if (scheme != null && scheme.covers(prompt.space(), keys)) {
      PromptHasher.Order order = new PromptHasher.Order(scheme, prompt, tokenIds.get(), keys);
      if (!promptHasher.hash(order, this::computed)) {
        counters.add(StreamCounter.COMPUTATIONS_SKIPPED);
      }
    }
  }

  private void computed(HashedPrompt hashed) {
    if (!ring.offer(unlessRemoved(() -> applier().computed(hashed)), weight(hashed.chain()))) {
      counters.add(StreamCounter.COMPUTATIONS_SKIPPED);
    }
  }

  /** Bytes that a prompt takes while it waits. */
  private static int weight(BlockChain prompt) {
    return prompt.blocks() * BYTES_A_BLOCK;
  }

  /** Lets time pass. */
  void tick() {
    Begun now = begun;
    if (now == null) {
      return;
    }
    try {
      now.stream().tick();
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  /** Something of the engine's was left half-done, so nothing that is known of it is believed. */
  @Override
  public void failed(Throwable thrown) {
    counters.add(StreamCounter.WRITE_FAILURES);
    LOG.error("engine={} is forgotten and learned anew: a bug of the router", id(), thrown);
    if (!removed && hasBegun()) {
      stream().failed("a bug of the router");
    }
  }

  /** The writer has ended. */
  void abandon() {
    String why = "the index writer has ended";
    Begun now = begun;
    if (now == null) {
      waiting = waiting(Trust.NONE, why);
    } else {
      now.stream().abandon(why);
    }
  }

  void gpuBlocks(long blocks) {
    applier().gpuBlocks(blocks);
  }

  @Override
  public void live(StreamMessage batch) {
    if (!removed) {
      stream().live(batch);
    }
  }

  @Override
  public void applied(StreamMessage batch) {
    if (batch.arrivedNanos() != StreamMessage.UNTIMED) {
      long took = System.nanoTime() - batch.arrivedNanos();
      lagNanos = took;
      visibleTimes.add(took);
    }
  }

  private void missed() {
    missed.set(false);
    stream().liveRefused();
  }

  @Override
  public void up() {
    tap.connected(source.id());
    firstHeard = NOTHING_HEARD;
    isUp = true;
    tell(() -> stream().connected());
  }

  @Override
  public void down() {
    tap.disconnected(source.id());
    isUp = false;
    firstHeard = NOTHING_HEARD;
    tell(() -> stream().disconnected());
  }

  @Override
  public boolean canReplay() {
    return source.replayEndpoint() != null;
  }

  @Override
  public void replay(long replayId, long fromSequence, boolean repairs) {
    ScheduledExecutorService replays = repairs ? repairReplays : checkReplays;
    try {
      long delayMillis = backoff.delayMillis();
      var unused =
          replays.schedule(() -> fetch(replayId, fromSequence), delayMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("engine={} is not asked: the ingest is closing", id());
    }
  }

  @Override
  public void reopen() {
    subscriber.reopen();
  }

  /** Has the writer do something with the stream. */
  void tell(Runnable work) {
    ring.command(unlessRemoved(work));
  }

  private Runnable unlessRemoved(Runnable work) {
    return () -> {
      if (!removed) {
        work.run();
      }
    };
  }

  private void fetch(long replayId, long fromSequence) {
    @Nullable String endpoint = source.replayEndpoint();
    if (!isAwaited(replayId) || endpoint == null) {
      return;
    }
    StreamTap.@Nullable Replies replies = tap.replay(source.id(), fromSequence);
    boolean whole = false;
    try {
      whole = replayClient.fetch(endpoint, fromSequence, new Replay(replayId, replies));
    } catch (RuntimeException | Error e) {
      LOG.error("engine={} a bug in a replay", id(), e);
    } finally {
      if (replies != null) {
        replies.ended();
      }
      ended(replayId, whole);
    }
  }

  private boolean isAwaited(long replayId) {
    return !removed && stream().awaits(replayId);
  }

  private void ended(long replayId, boolean whole) {
    backoff.answered(whole);
    tell(() -> stream().replayEnded(replayId, whole));
  }

  private final class Replay implements ReplaySink {

    private final long replayId;
    private final StreamTap.@Nullable Replies replies;

    Replay(long replayId, StreamTap.@Nullable Replies replies) {
      this.replayId = replayId;
      this.replies = replies;
    }

    @Override
    public void reply(List<byte[]> frames) {
      if (replies != null) {
        replies.reply(frames);
      }
    }

    @Override
    public boolean batch(StreamMessage batch) {
      try {
        return isAwaited(replayId)
            && ring.put(
                unlessRemoved(() -> stream().replayed(replayId, batch)), batch.payload().length);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }

    @Override
    public void problem(StreamCounter what) {
      counters.add(what);
    }
  }
}
