package dev.warmpath.simulator.live;

import dev.warmpath.simulator.engine.EngineGauges;
import dev.warmpath.simulator.live.TokenEngine.StepResult;
import dev.warmpath.simulator.live.TokenEngine.StepResult.Token;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Steps a simulated engine on its own thread, as fast as the engine's time model says.
 *
 * <p>What callers ask for takes effect between two steps. Each step's events are handed over before
 * its tokens, as one batch. If anything of this throws, the engine is dead from then on: all that
 * is under way, and all that is asked for later, fails.
 *
 * <p>Thread-safe.
 */
public final class EngineDriver implements AutoCloseable {

  /** The slowest that an engine can be. */
  public static final double MIN_SPEED = 1e-3;

  private static final Logger LOG = LoggerFactory.getLogger(EngineDriver.class);

  private final TokenEngine engine;
  private final Consumer<List<CacheEvent>> events;
  private final double speed;
  private final BlockingQueue<Command> commands = new LinkedBlockingQueue<>();
  private final Map<String, Listener> listeners = new HashMap<>();
  private final Thread thread;
  private final long startNanos = System.nanoTime();
  private volatile EngineGauges load;
  private volatile boolean alive = true;
  private volatile boolean closed;

  /** Hears what becomes of a request, on the engine's thread. */
  public interface Listener {

    /** The next token. */
    void token(Token token);

    /** The engine is dead; nothing more comes. */
    void failed();
  }

  /** Something to do between two steps, or to give up because the engine is dead. */
  private record Command(Runnable work, Runnable giveUp) {}

  /**
   * Starts stepping.
   *
   * @param events takes the events of each step, on the engine's thread
   * @param speed how many times faster than the time model; at least {@link #MIN_SPEED}
   */
  public EngineDriver(
      String name, TokenEngine engine, Consumer<List<CacheEvent>> events, double speed) {
    if (!(speed >= MIN_SPEED)) {
      throw new IllegalArgumentException("speed=" + speed);
    }
    this.engine = engine;
    this.events = events;
    this.speed = speed;
    load = engine.load();
    thread = new Thread(this::run, "engine-steps-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Submits a valid request. */
  public void submit(TokenRequest request, Listener listener) {
    ask(
        () -> {
          engine.submit(request);
          listeners.put(request.id(), listener);
        },
        listener::failed);
  }

  /** Gives up a request; its listener hears nothing more after the current step. */
  public void abort(String requestId) {
    ask(
        () -> {
          engine.abort(requestId);
          listeners.remove(requestId);
        },
        () -> {});
  }

  /** Takes the blocks that a request holds after its end. */
  public void free(String requestId) {
    ask(() -> engine.free(requestId), () -> {});
  }

  /** Numbers of the blocks that a request holds after its end, by group. */
  public CompletableFuture<int[][]> heldBlocks(String requestId) {
    return ask(() -> engine.heldBlocks(requestId));
  }

  /** Prompt tokens that the request would find in the cache now. */
  public CompletableFuture<Integer> cachedTokens(TokenRequest request) {
    return ask(() -> engine.cachedTokens(request));
  }

  /** Where the prompt tokens end that host memory holds from {@code fromTokens} on. */
  public CompletableFuture<Integer> hostEndTokens(TokenRequest request, int fromTokens) {
    return ask(() -> engine.hostEndTokens(request, fromTokens));
  }

  /** Empties the cache if nothing is in use. */
  public CompletableFuture<Boolean> resetPrefixCache() {
    return ask(engine::resetPrefixCache);
  }

  /** Whether nothing has made it fail. */
  public boolean isAlive() {
    return alive;
  }

  /** Gauges and counters as of the last step. */
  public EngineGauges load() {
    return load;
  }

  /** Stops in the middle of whatever is going on. */
  @Override
  public void close() {
    closed = true;
    ask(() -> {}, () -> {});
    LockSupport.unpark(thread);
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void ask(Runnable work, Runnable giveUp) {
    commands.add(new Command(work, giveUp));
    LockSupport.unpark(thread);
  }

  /** Completes on the engine's thread. */
  private <T> CompletableFuture<T> ask(Supplier<T> question) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    ask(
        () -> answer.complete(question.get()),
        () -> answer.completeExceptionally(new IllegalStateException("the engine is dead")));
    return answer;
  }

  private void run() {
    try {
      drive();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void drive() throws InterruptedException {
    try {
      while (!closed) {
        runCommands();
        if (!engine.idle()) {
          step();
        }
        load = engine.load();
      }
    } catch (RuntimeException | Error e) {
      LOG.error("the simulated engine is dead", e);
      alive = false;
      giveUp();
    }
  }

  private void giveUp() throws InterruptedException {
    listeners.values().forEach(Listener::failed);
    listeners.clear();
    while (!closed) {
      commands.take().giveUp.run();
    }
  }

  /** Runs what is queued; waits for something if there is nothing else to do. */
  private void runCommands() throws InterruptedException {
    Command command = engine.idle() ? commands.take() : commands.poll();
    while (command != null) {
      try {
        command.work.run();
      } catch (RuntimeException | Error e) {
        command.giveUp.run();
        throw e;
      }
      command = commands.poll();
    }
  }

  private void step() {
    long start = System.nanoTime();
    double millis = engine.beginStep(Math.round((start - startNanos) * speed)) / speed;
    load = engine.load();
    await(start + (long) (millis * 1e6));
    if (closed) {
      return;
    }
    StepResult result = engine.endStep();
    load = engine.load();
    events.accept(result.events());
    for (Token token : result.tokens()) {
      deliver(token);
    }
  }

  private void await(long deadlineNanos) {
    long left = deadlineNanos - System.nanoTime();
    while (left > 0 && !closed && !(engine.waitsForLoad() && !commands.isEmpty())) {
      LockSupport.parkNanos(left);
      left = deadlineNanos - System.nanoTime();
    }
  }

  private void deliver(Token token) {
    Listener listener =
        token.last() ? listeners.remove(token.requestId()) : listeners.get(token.requestId());
    if (listener != null) {
      listener.token(token);
    }
  }
}
