package dev.warmpath.router.doctor;

import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.follow.EventIngest;
import dev.warmpath.eventingest.follow.StreamTap;
import dev.warmpath.eventingest.snapshot.Recovery;
import dev.warmpath.eventingest.snapshot.RestoredEngines;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.EventStreams;
import dev.warmpath.router.config.MemoryBudget;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.doctor.ReplicaFacts.StreamFacts;
import dev.warmpath.router.doctor.ReplicaFacts.StreamFacts.ReplayFacts;
import dev.warmpath.router.fleet.Replica;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Follows the event streams as a router does, with an index of its own, and notes what their
 * sockets bring.
 *
 * <p>Thread-safe.
 */
final class StreamProbe implements AutoCloseable {

  private static final long LOOK_MILLIS = 20;

  /** An engine may publish its last step after it has answered. */
  private static final long SETTLE_MILLIS = 100;

  /** A replay that goes on is waited for. */
  private static final Duration REPLAY_LIMIT = Duration.ofSeconds(60);

  private final KvIndex index;
  private final EventIngest ingest;
  private final EventStreams streams;
  private final Map<EngineId, Heard> heard = new ConcurrentHashMap<>();

  StreamProbe(RouterConfig config) {
    MemoryBudget budget = MemoryBudget.of(config);
    index = new RunKvIndex(new IndexLimits(config.index().orphanBlocks(), budget.indexBytes()));
    ingest =
        new EventIngest(
            index,
            Clocks.ofTheMachine(),
            config.ingest().options(budget),
            CompletableFuture.completedFuture(
                new RestoredEngines(index, null, new Recovery(System::nanoTime))),
            new Tap());
    streams = new EventStreams(ingest, config.stores(), config.onlyModel());
  }

  void follow(ReplicaConfig replica, String model) {
    streams.follow(replica, model);
  }

  /** Waits until the stream is connected and its replay has answered, or {@code limit} is over. */
  void awaitStart(EngineId id, boolean replays, Duration limit) throws InterruptedException {
    Heard stream = heard(id);
    long began = System.nanoTime();
    while (!stream.hasStarted(replays)
        && !isOver(began, stream.isAnswering() ? REPLAY_LIMIT : limit)) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    }
    ingest.settle();
  }

  /**
   * Waits until the engine holds some of the prompt by its events, and a little more for the rest,
   * or until {@code limit} is over.
   */
  Held awaitStored(Replica replica, int rank, Prompt prompt, Duration limit)
      throws InterruptedException {
    long began = System.nanoTime();
    while (held(replica, rank, prompt).blocks == 0 && !isOver(began, limit)) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      ingest.settle();
    }
    TimeUnit.MILLISECONDS.sleep(SETTLE_MILLIS);
    ingest.settle();
    return held(replica, rank, prompt);
  }

  /** Waits for a batch beyond the first {@code before}, or until {@code limit} is over. */
  Held awaitBatch(EngineId id, long before, Duration limit) throws InterruptedException {
    long began = System.nanoTime();
    while (batches(id) <= before && !isOver(began, limit)) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    }
    ingest.settle();
    return Held.NOTHING;
  }

  /** Whether the engine's stream is followed and was connected. */
  boolean isConnected(EngineId id) {
    return heard(id).connected;
  }

  /** How many batches were heard live. */
  long batches(EngineId id) {
    return heard(id).batches;
  }

  /**
   * How much of a prompt an engine holds.
   *
   * @param blocks leading blocks
   * @param tokens that the engine will reuse
   */
  record Held(int blocks, int tokens) {
    static final Held NOTHING = new Held(0, 0);
  }

  Held held(Replica replica, int rank, Prompt prompt) {
    EngineView view = streams.view(replica, rank);
    BlockChain chain = view.space() == null ? null : prompt.chain(view);
    if (chain == null) {
      return Held.NOTHING;
    }
    PrefixMatches matches = new PrefixMatches();
    index.match(chain, matches);
    int tokens = matches.tokens(view.slot());
    return new Held(
        tokens / chain.space().blockSizeTokens(), view.slowTier().reused(matches, view.slot()));
  }

  /** How the stream stands; the ports' problems are the caller's to add. */
  StreamFacts facts(
      EngineSource source, @Nullable String portProblem, @Nullable String replayProblem) {
    Heard stream = heard(source.id());
    EngineStatus status =
        ingest.status().stream()
            .filter(one -> one.id().equals(source.id()))
            .findFirst()
            .orElseThrow();
    return new StreamFacts(
        source,
        portProblem,
        replayProblem,
        ingest.boundEndpoint(source.id()),
        stream.connected,
        stream.batches,
        stream.replay,
        status);
  }

  private static boolean isOver(long beganNanos, Duration limit) {
    return System.nanoTime() - beganNanos > limit.toNanos();
  }

  private Heard heard(EngineId id) {
    return heard.computeIfAbsent(id, engine -> new Heard());
  }

  @Override
  public void close() {
    ingest.close();
  }

  /** What one engine's sockets brought. Thread-safe. */
  private static final class Heard {
    private volatile boolean connected;
    private volatile boolean answering;
    private volatile long batches;
    private volatile @Nullable ReplayFacts replay;

    synchronized void batch() {
      batches++;
    }

    boolean hasStarted(boolean replays) {
      return connected && (!replays || replay != null);
    }

    boolean isAnswering() {
      return answering;
    }

    /** The first whole answer counts, for it is that to a question for everything. */
    synchronized void replayed(ReplayFacts answer) {
      answering = false;
      ReplayFacts before = replay;
      if (before == null || !before.whole()) {
        replay = answer;
      }
    }
  }

  private final class Tap implements StreamTap {

    @Override
    public void live(EngineId engine, byte[] topic, StreamMessage message) {
      heard(engine).batch();
    }

    @Override
    public void connected(EngineId engine) {
      heard(engine).connected = true;
    }

    @Override
    public Replies replay(EngineId engine, long fromSequence) {
      return new Answer(heard(engine));
    }
  }

  /** The answer to one replay as it comes. Confined to the replay's thread. */
  private static final class Answer implements StreamTap.Replies {
    private final Heard stream;
    private @Nullable StreamMessage first;
    private long batches;
    private boolean whole;

    Answer(Heard stream) {
      this.stream = stream;
    }

    @Override
    public void reply(List<byte[]> frames) {
      StreamMessage message = StreamMessage.ofReply(frames);
      if (message == null) {
        return;
      }
      stream.answering = true;
      if (message.endsReplay()) {
        whole = true;
      } else {
        first = first == null ? message : first;
        batches++;
      }
    }

    @Override
    public void ended() {
      StreamMessage begin = first;
      stream.replayed(
          begin == null
              ? new ReplayFacts(whole, 0, -1, Double.NaN)
              : new ReplayFacts(whole, batches, begin.sequence(), seconds(begin.payload())));
    }

    private static double seconds(byte[] payload) {
      try {
        return new ColumnDecoder().decode(payload).timestampSeconds();
      } catch (WireException e) {
        return Double.NaN;
      }
    }
  }
}
