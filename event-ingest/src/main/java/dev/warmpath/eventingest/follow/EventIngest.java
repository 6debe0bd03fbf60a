package dev.warmpath.eventingest.follow;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStanding;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.follow.FollowedEngine.Shared;
import dev.warmpath.eventingest.memory.EngineMemory;
import dev.warmpath.eventingest.memory.IngestMemory;
import dev.warmpath.eventingest.memory.Recollection;
import dev.warmpath.eventingest.memory.Recovery;
import dev.warmpath.eventingest.zmq.ReplayClient;
import dev.warmpath.kvindex.KvIndex;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;

/**
 * Follows the event streams of a fleet and owns the one thread that writes the index.
 *
 * <p>Each engine has a thread that polls its live socket; replays run on a few more. Between them
 * and the writer lies one bounded queue: a message that finds no room is counted and missed, and
 * what is missed is asked again or counted as lost.
 *
 * <p>Thread-safe.
 */
public final class EventIngest implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(EventIngest.class);
  private static final long TICK_MILLIS = 100;
  private static final long ANSWER_SECONDS = 30;
  private static final long JOIN_MILLIS = 2_000;

  private final Shared shared;
  private final Recollection recollection;
  private final ExecutorService replays;
  private final Map<EngineId, FollowedEngine> engines = new ConcurrentHashMap<>();
  private final Map<EngineId, Thread> subscribers = new ConcurrentHashMap<>();
  private final Thread writer;
  private volatile boolean closed;

  /** Starts the writer of {@code index}; from now on nobody else may write it. */
  public EventIngest(KvIndex index, Clock clock) {
    this(index, clock, IngestOptions.DEFAULT);
  }

  /** Starts the writer of {@code index} with other bounds than usual. */
  public EventIngest(KvIndex index, Clock clock, IngestOptions options) {
    this(index, clock, options, new Recollection(index, null, new Recovery(System::nanoTime)));
  }

  /**
   * Starts the writer of an index that an earlier process has left.
   *
   * @param recollection what it knew beside the index; the writer's from now on
   */
  public EventIngest(KvIndex index, Clock clock, IngestOptions options, Recollection recollection) {
    this.recollection = recollection;
    ZContext context = new ZContext(1);
    context.setLinger(0);
    replays =
        Executors.newFixedThreadPool(
            options.parallelReplays(), work -> daemon(work, "warmpath-replay"));
    shared =
        new Shared(
            index,
            clock,
            options,
            new Inbox(options.queuedMessages(), options.queuedBytes()),
            context,
            new ReplayClient(context, options.replayIdleTimeout(), () -> closed),
            replays);
    writer = daemon(this::write, "warmpath-index-writer");
    writer.start();
  }

  /** Follows one more engine and returns its slot in the index. */
  public int add(EngineSource source) {
    FollowedEngine engine = onWriter(() -> follow(source));
    Thread thread = daemon(engine.subscriber(), "warmpath-events-" + source.id());
    subscribers.put(source.id(), thread);
    thread.start();
    return engine.slot();
  }

  /** Forgets the engines that an earlier process knew and nobody added. */
  public void dropUnclaimed() {
    onWriter(() -> {
      recollection.dropUnclaimed();
      return true;
    });
  }

  /**
   * Runs {@code work} on the writer's thread, where the index stands still meanwhile, with what
   * another process needs to go on beside the index; whether it will be run.
   */
  public boolean whileStill(Consumer<IngestMemory> work) {
    return shared.inbox().command(() -> work.accept(memory()));
  }

  private IngestMemory memory() {
    List<EngineMemory> all = new ArrayList<>();
    for (FollowedEngine engine : engines.values()) {
      all.add(engine.memory(shared.index()));
    }
    return new IngestMemory(shared.clock().instant(), all);
  }

  /** Stops following the engine and forgets what it held; unknown engines are ignored. */
  public void remove(EngineId id) {
    FollowedEngine engine = engines.remove(id);
    if (engine != null) {
      engine.subscriber().stop();
      subscribers.remove(id);
      shared.inbox().command(engine::remove);
    }
  }

  /** The engine's cache is known to be empty although its own event may come late. */
  public void cleared(EngineId id, String why) {
    tell(id, engine -> engine.stream().cleared(why));
  }

  /**
   * The engine's process is known to be gone or new: what it held is lost, its sequence starts
   * anew.
   */
  public void restarted(EngineId id, String why) {
    tell(id, engine -> engine.stream().restarted(why));
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

  /** How one engine stands, or null if it is not followed; cheap enough to ask on each request. */
  public @Nullable EngineStanding standing(EngineId id) {
    FollowedEngine engine = engines.get(id);
    return engine == null ? null : engine.standing();
  }

  /** The endpoint that was bound for the engine, with its port; null if none is bound (yet). */
  public @Nullable String boundEndpoint(EngineId id) {
    FollowedEngine engine = engines.get(id);
    return engine == null ? null : engine.subscriber().boundEndpoint();
  }

  /** Messages that wait between sockets and index. */
  public int queuedMessages() {
    return shared.inbox().messages();
  }

  /** Waits until all that was queued before is applied; for tests and orderly ends. */
  public void settle() {
    onWriter(() -> true);
  }

  /** Stops all sockets and threads; waits a few seconds at most. */
  @Override
  public void close() {
    closed = true;
    engines.values().forEach(engine -> engine.subscriber().stop());
    replays.shutdownNow();
    shared.inbox().close();
    List<Thread> threads = new ArrayList<>(subscribers.values());
    threads.add(writer);
    if (join(threads)) {
      shared.context().close();
    } else {
      daemon(() -> shared.context().close(), "warmpath-events-close").start();
    }
  }

  private FollowedEngine follow(EngineSource source) {
    if (engines.containsKey(source.id())) {
      throw new IllegalArgumentException("id=" + source.id() + " is followed already");
    }
    FollowedEngine engine = new FollowedEngine(source, shared, recollection.adopt(source));
    engines.put(source.id(), engine);
    return engine;
  }

  private void tell(EngineId id, Consumer<FollowedEngine> message) {
    FollowedEngine engine = engines.get(id);
    if (engine != null) {
      engine.tell(() -> message.accept(engine));
    }
  }

  private <T> T onWriter(Supplier<T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    boolean accepted =
        shared
            .inbox()
            .command(() -> {
              try {
                answer.complete(question.get());
              } catch (RuntimeException e) {
                answer.completeExceptionally(e);
              }
            });
    if (!accepted) {
      throw new IllegalStateException("the ingest is closed");
    }
    try {
      return answer.orTimeout(ANSWER_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }

  private void write() {
    long tickNanos = System.nanoTime();
    while (!closed) {
      try {
        Runnable work = shared.inbox().poll(TICK_MILLIS);
        if (work != null) {
          work.run();
        }
        if (System.nanoTime() - tickNanos > TICK_MILLIS * 1_000_000) {
          tickNanos = System.nanoTime();
          engines.values().forEach(engine -> engine.stream().tick());
        }
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException e) {
        LOG.error("a bug in the write path", e);
      }
    }
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
