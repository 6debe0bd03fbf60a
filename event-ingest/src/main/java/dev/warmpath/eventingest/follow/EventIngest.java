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
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.VisibleTimes;
import dev.warmpath.eventingest.apply.SharedStore;
import dev.warmpath.eventingest.follow.FollowedEngine.Shared;
import dev.warmpath.eventingest.hashing.PromptHasher;
import dev.warmpath.eventingest.snapshot.EngineSnapshot;
import dev.warmpath.eventingest.snapshot.IngestSnapshot;
import dev.warmpath.eventingest.snapshot.Recovery;
import dev.warmpath.eventingest.snapshot.RestoredEngines;
import dev.warmpath.eventingest.transport.Descriptors;
import dev.warmpath.eventingest.transport.EventPoller;
import dev.warmpath.eventingest.transport.ReplayClient;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;

/**
 * Follows the event streams of a fleet and owns the one thread that writes the index.
 *
 * <p>One thread, or a few, poll all live sockets; replays run on others. Between them and the
 * writer lies a bounded ring for each engine: a message that finds no room is counted and missed,
 * and what is missed is asked again or counted as lost. The writer takes the engines in turns.
 *
 * <p>Thread-safe.
 */
public final class EventIngest implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(EventIngest.class);
  private static final long ANSWER_SECONDS = 30;

  /** A snapshot may keep the writer busy for ten seconds. */
  private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final long IDLE_SECONDS = 5;
  private static final long JOIN_MILLIS = 2_000;
  private static final int TICKS_A_LOOK = 10;

  private final Shared shared;
  private final CompletableFuture<RestoredEngines> restoredEngines;
  private final ScheduledThreadPoolExecutor repairReplays;
  private final ScheduledThreadPoolExecutor checkReplays;
  private final Map<EngineId, FollowedEngine> engines = new ConcurrentHashMap<>();
  private final List<EventPoller> pollers = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final IndexWriter writer = new IndexWriter(this::tick);
  private final EngineRing commands;
  private final LayoutWatch layouts = new LayoutWatch();
  private int ticks;
  private volatile boolean closed;

  /**
   * What an engine's live connection has brought so far, whether or not it was taken up yet.
   *
   * @param connected whether the connection is up
   * @param firstSequence the first batch of that connection, −1 before there is one
   */
  public record Heard(EngineId id, boolean connected, long firstSequence) {}

  /** Commands that are no engine's. */
  private static final class Commands implements EngineRing.Owner {

    @Override
    public void live(StreamMessage batch) {
      throw new IllegalStateException("sequence=" + batch.sequence() + " of no engine");
    }

    @Override
    public void failed(Throwable thrown) {
      LOG.error("a command to the writer failed", thrown);
    }
  }

  /** Starts the writer of {@code index}; from now on nobody else may write it. */
  public EventIngest(KvIndex index, Clocks clocks) {
    this(index, clocks, IngestOptions.DEFAULT);
  }

  /** Starts the writer of {@code index} with other bounds than usual. */
  public EventIngest(KvIndex index, Clocks clocks, IngestOptions options) {
    this(index, clocks, options, new RestoredEngines(index, null, new Recovery(System::nanoTime)));
  }

  /** The same with an index that an earlier process has left. */
  public EventIngest(
      KvIndex index, Clocks clocks, IngestOptions options, RestoredEngines restoredEngines) {
    this(
        index, clocks, options, CompletableFuture.completedFuture(restoredEngines), StreamTap.NONE);
  }

  /**
   * Starts the writer of an index that an earlier process may have left.
   *
   * @param restoredEngines what it knew beside the index; the writer's from now on. The writer
   *     begins when it is there, and so does what is known of any engine; what is heard and told
   *     meanwhile waits. Never fails
   * @param tap hears what the sockets bring
   */
  public EventIngest(
      KvIndex index,
      Clocks clocks,
      IngestOptions options,
      CompletableFuture<RestoredEngines> restoredEngines,
      StreamTap tap) {
    this.restoredEngines = restoredEngines.copy();
    ZContext context = Descriptors.context();
    repairReplays = replayThreads(options.replay().parallel(), "warmpath-replay");
    checkReplays = replayThreads(options.replay().parallelChecks(), "warmpath-replay-check");
    EngineRing.RingBytes bytes = new EngineRing.RingBytes(options.ring().totalBytes());
    commands = new EngineRing(options.ring(), bytes, writer, new Commands());
    shared =
        new Shared(
            index,
            clocks,
            options,
            owner -> new EngineRing(options.ring(), bytes, writer, owner),
            context,
            new ReplayClient(context, options.replay(), options.ring().bytes(), () -> closed),
            repairReplays,
            checkReplays,
            tap,
            new VisibleTimes(),
            new PromptHasher(System::nanoTime),
            new SharedStores(index, clocks.nanoClock()));
    start(this::write, "warmpath-index-writer");
    for (int i = 0; i < options.pollers(); i++) {
      EventPoller poller = new EventPoller(context, writer::wake);
      pollers.add(poller);
      start(poller, "warmpath-events-" + i);
    }
  }

  /**
   * Follows one more engine. Returns when it has a slot in the index, or at once if an earlier
   * process's snapshot is still being read.
   */
  public void add(EngineSource source) {
    FollowedEngine engine = follow(source);
    CompletableFuture<Boolean> begun =
        ask(
            engine.ring(),
            () -> {
              engine.begin(restoredEngines.join().adopt(source));
              return true;
            });
    try {
      answerUnlessReading(begun);
    } catch (RuntimeException e) {
      engines.remove(source.id(), engine);
      engine.ring().close();
      throw e;
    }
    pollers.stream()
        .min(Comparator.comparingInt(EventPoller::followed))
        .orElseThrow()
        .follow(engine.subscriber());
  }

  /** Forgets the engines that an earlier process knew and nobody added. */
  public void dropUnclaimed() {
    answerUnlessReading(
        ask(
            commands,
            () -> {
              restoredEngines.join().dropUnclaimed(id -> !engines.containsKey(id));
              return true;
            }));
  }

  /**
   * Runs {@code work} on the writer's thread, where the index stands still meanwhile, with what
   * another process needs to go on beside the index; whether it will be run.
   */
  public boolean whileStill(Consumer<IngestSnapshot> work) {
    return commands.command(() -> work.accept(snapshot()));
  }

  private IngestSnapshot snapshot() {
    List<EngineSnapshot> all = new ArrayList<>();
    for (FollowedEngine engine : engines.values()) {
      if (engine.hasBegun() && !engine.isStore()) {
        all.add(engine.snapshot(shared.index()));
      }
    }
    return new IngestSnapshot(shared.clocks().wallClock().instant(), all);
  }

  /** Stops following the engine and forgets what it held; unknown engines are ignored. */
  public void remove(EngineId id) {
    FollowedEngine engine = engines.remove(id);
    if (engine != null) {
      engine.subscriber().stop();
      commands.command(() -> remove(engine));
    }
  }

  private void remove(FollowedEngine engine) {
    engine.remove();
    if (!engine.hasBegun()) {
      restoredEngines.join().dropUnclaimed(engine.id()::equals);
    }
  }

  /** The engine's cache is known to be empty although its own event may come late. */
  public void cleared(EngineId id, String why) {
    shared.tap().cleared(id, why);
    tell(id, engine -> engine.stream().cleared());
  }

  /**
   * The engine's process is known to be gone or new: what it held is lost, its sequence starts
   * anew.
   */
  public void restarted(EngineId id, String why) {
    shared.tap().restarted(id, why);
    tell(id, engine -> engine.stream().restarted(why));
  }

  /**
   * The engine's process was seen to have started then, in seconds since 1970, and to run still.
   */
  public void runsSince(EngineId id, double startSeconds) {
    tell(id, engine -> engine.stream().runsSince(startSeconds));
  }

  /** The engine's server is well again after it was not. */
  public void recovered(EngineId id) {
    tell(id, engine -> engine.stream().recovered());
  }

  /** The engine says that its GPU has room for so many blocks, 0 if it does not say. */
  public void gpuBlocks(EngineId id, long blocks) {
    tell(id, engine -> engine.gpuBlocks(blocks));
  }

  /** An engine said in an answer how much of a prompt it reused. */
  public void reused(EngineId id, ReportedReuse reuse) {
    FollowedEngine engine = engines.get(id);
    if (engine != null) {
      engine.reused(reuse);
    }
  }

  /**
   * A prompt, not all of which is known to be there, is about to be sent to an engine.
   *
   * @param prompt its blocks, in the engine's space
   * @param tokenIds its tokens, asked for only where they are needed; not changed from then on
   */
  public void dispatching(
      EngineId id, BlockChain prompt, Supplier<int[]> tokenIds, PromptKeys keys) {
    FollowedEngine engine = engines.get(id);
    if (engine != null) {
      engine.dispatching(prompt, tokenIds, keys);
    }
  }

  /**
   * Images are about to be sent to an engine of which it is not known how it names them.
   *
   * @param names that they may have, with how each is made
   */
  public void sendingImages(EngineId id, Map<String, ImageForm> names) {
    FollowedEngine engine = engines.get(id);
    if (engine != null) {
      engine.sendingImages(names);
    }
  }

  /** A chat with images is about to be sent to an engine, which may tell more of them. */
  public void sendingImages(EngineId id, SentImages chat) {
    FollowedEngine engine = engines.get(id);
    if (engine != null) {
      engine.sendingImages(chat);
    }
  }

  /**
   * A chat is about to be sent to an engine that may have images of which nothing is known: until
   * its prompt is computed, what the engine stores may be its own.
   *
   * @param request by what it is known when it {@linkplain #endedImages ends}
   */
  public void sendingUnread(EngineId id, Object request) {
    FollowedEngine engine = engines.get(id);
    if (engine != null) {
      engine.sendingUnread(request);
    }
  }

  /**
   * A chat with images has ended, or the engine has told what it found.
   *
   * @param foundAll whether the engine found all of them in its cache
   */
  public void endedImages(EngineId id, Object request, boolean foundAll) {
    FollowedEngine engine = engines.get(id);
    if (engine != null) {
      engine.endedImages(request, foundAll);
    }
  }

  /** What waits for an engine to store images; nothing if it is not followed. */
  public ImageWaits imageWaits(EngineId id) {
    FollowedEngine engine = engines.get(id);
    return engine == null ? ImageWaits.NOTHING : engine.imageWaits();
  }

  /** The state of every engine, by slot. */
  public List<EngineStatus> status() {
    List<EngineStatus> all = new ArrayList<>();
    for (FollowedEngine engine : engines.values()) {
      all.add(engine.status());
    }
    all.sort(Comparator.comparingInt(EngineStatus::slot));
    return all;
  }

  /** What the live connections of all engines have brought; while a snapshot is read, too. */
  public List<Heard> heard() {
    return engines.values().stream().map(FollowedEngine::heard).toList();
  }

  /** How often this happened to one engine since it was added; 0 if it is not followed. */
  public long count(EngineId id, StreamCounter counter) {
    FollowedEngine engine = engines.get(id);
    return engine == null ? 0 : engine.count(counter);
  }

  /** How long live batches took from the socket into the index. */
  public VisibleTimes visibleTimes() {
    return shared.visibleTimes();
  }

  /** Replays that run now; no more than are allowed at the same time. */
  public int replaysRunning() {
    return repairReplays.getActiveCount() + checkReplays.getActiveCount();
  }

  /** Whether events still reach the index: the writer has neither ended nor is it stuck. */
  public boolean isWriting() {
    return !writer.hasEnded() && writer.stalledNanos() < STUCK_NANOS;
  }

  /** Seconds since the writer began its last turn; below one unless it is busy, stuck or ended. */
  public double writerStalledSeconds() {
    return writer.stalledNanos() / 1e9;
  }

  /** What is known of one engine, or null if it is not followed; cheap enough for each request. */
  public @Nullable EngineView view(EngineId id) {
    FollowedEngine engine = engines.get(id);
    return engine == null ? null : engine.view();
  }

  /** Whether the engine's stream is connected, so that its next event will be heard. */
  public boolean isConnected(EngineId id) {
    FollowedEngine engine = engines.get(id);
    return engine != null && engine.heard().connected();
  }

  /**
   * What is known of a store that engines read; null before one of these, or its own events, are
   * followed. Cheap enough for each request.
   */
  public @Nullable EngineView view(StoreRules rules) {
    if (rules.publishes()) {
      return view(rules.id());
    }
    SharedStore store = shared.stores().get(rules);
    return store == null ? null : new EngineView(store.slot(), store.space(), Trust.EXACT);
  }

  /** A store that engines read, for what it tells; null before one of them is followed. */
  public @Nullable SharedStore store(StoreRules rules) {
    return shared.stores().get(rules);
  }

  /**
   * Engines read other stores from now on. What they hold, and what the stores hold that are not
   * dropped, stays known.
   *
   * @param readers of each engine the store that it reads, or nothing; those that are not followed
   *     are passed over
   * @param dropped stores that nobody reads any more, and whose own events are not followed
   */
  public void share(Map<EngineId, Optional<StoreRules>> readers, List<StoreRules> dropped) {
    answerUnlessReading(
        ask(
            commands,
            () -> {
              readers.forEach((id, store) -> {
                FollowedEngine engine = engines.get(id);
                if (engine != null) {
                  engine.reads(store.orElse(null));
                }
              });
              dropped.forEach(shared.stores()::drop);
              return true;
            }));
  }

  /** The endpoint that was bound for the engine, with its port; null if none is bound (yet). */
  public @Nullable String boundEndpoint(EngineId id) {
    FollowedEngine engine = engines.get(id);
    return engine == null ? null : engine.subscriber().boundEndpoint();
  }

  /** Waits until all that was queued before is applied; for tests and orderly ends. */
  public void settle() {
    List<CompletableFuture<Boolean>> all = new ArrayList<>();
    all.add(ask(commands, () -> true));
    engines.values().forEach(engine -> all.add(ask(engine.ring(), () -> true)));
    all.forEach(EventIngest::answer);
  }

  /** Stops all sockets and threads; waits a few seconds at most. */
  @Override
  public void close() {
    closed = true;
    restoredEngines.cancel(false);
    pollers.forEach(EventPoller::stop);
    threads.forEach(LockSupport::unpark); // a poller without engines
    repairReplays.shutdownNow();
    checkReplays.shutdownNow();
    shared.promptHasher().close();
    closeRings();
    writer.close();
    if (join(threads)) {
      shared.context().close();
    } else {
      daemon(() -> shared.context().close(), "warmpath-events-close").start();
    }
  }

  private void write() {
    try {
      restoredEngines.join();
      writer.run();
    } catch (CancellationException e) {
      // closed before anything was known
    } finally {
      if (!closed) {
        closeRings(); // nobody would ever empty them
        engines.values().forEach(FollowedEngine::abandon);
      }
    }
  }

  private void closeRings() {
    engines.values().forEach(engine -> engine.ring().close());
    commands.close();
  }

  private synchronized FollowedEngine follow(EngineSource source) {
    if (engines.containsKey(source.id())) {
      throw new IllegalArgumentException("id=" + source.id() + " is followed already");
    }
    FollowedEngine engine = new FollowedEngine(source, shared);
    engines.put(source.id(), engine);
    return engine;
  }

  private void tell(EngineId id, Consumer<FollowedEngine> message) {
    FollowedEngine engine = engines.get(id);
    if (engine != null) {
      engine.tell(() -> message.accept(engine));
    }
  }

  /** What is asked while the snapshot is being read is answered when that is over. */
  private void answerUnlessReading(CompletableFuture<Boolean> asked) {
    if (restoredEngines.isDone()) {
      answer(asked);
    } else {
      var unused =
          asked.exceptionally(thrown -> {
            LOG.error("a command to the writer failed", thrown);
            return false;
          });
    }
  }

  private static <T> CompletableFuture<T> ask(EngineRing ring, Supplier<T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    boolean accepted =
        ring.command(() -> {
          try {
            answer.complete(question.get());
          } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
          }
        });
    if (!accepted) {
      answer.completeExceptionally(new IllegalStateException("the ingest is closed"));
    }
    return answer;
  }

  private static <T> T answer(CompletableFuture<T> asked) {
    try {
      return asked.orTimeout(ANSWER_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }

  private void tick() {
    engines.values().forEach(FollowedEngine::tick);
    shared.stores().tick();
    if (++ticks % TICKS_A_LOOK == 0) {
      commands.command(() -> layouts.look(engines.values()));
    }
  }

  private void start(Runnable work, String name) {
    Thread thread = daemon(work, name);
    threads.add(thread);
    thread.start();
  }

  private static ScheduledThreadPoolExecutor replayThreads(int most, String name) {
    var threads = new ScheduledThreadPoolExecutor(most, work -> daemon(work, name));
    threads.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  private static boolean join(List<Thread> threads) {
    long deadlineNanos = System.nanoTime() + JOIN_MILLIS * 1_000_000;
    boolean all = true;
    for (Thread thread : threads) {
      try {
        thread.join(Math.max(1, (deadlineNanos - System.nanoTime()) / 1_000_000));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
      all &= !thread.isAlive();
    }
    return all;
  }

  private static Thread daemon(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }
}
