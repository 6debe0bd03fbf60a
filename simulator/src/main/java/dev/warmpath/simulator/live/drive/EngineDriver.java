package dev.warmpath.simulator.live.drive;

import dev.warmpath.simulator.engine.EngineLoad;
import dev.warmpath.simulator.engine.EngineRequest;
import dev.warmpath.simulator.engine.SimulatedEngine;
import dev.warmpath.simulator.engine.StepResult;
import dev.warmpath.simulator.engine.StepResult.Token;
import dev.warmpath.simulator.engine.cache.CacheEvent;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Steps a simulated engine on its own thread, as fast as the engine's time model says.
 *
 * <p>What callers ask for takes effect between two steps. Each step's events are handed over before
 * its tokens, as one batch.
 *
 * <p>Thread-safe.
 */
public final class EngineDriver implements AutoCloseable {

  private final SimulatedEngine engine;
  private final Consumer<List<CacheEvent>> events;
  private final double speed;
  private final BlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
  private final Map<String, Consumer<Token>> listeners = new HashMap<>();
  private final Thread thread;
  private volatile EngineLoad load;
  private volatile boolean closed;

  /**
   * Starts stepping.
   *
   * @param events takes the events of each step, on the engine's thread
   * @param speed how many times faster than the time model; at least 1e-3
   */
  public EngineDriver(
      String name, SimulatedEngine engine, Consumer<List<CacheEvent>> events, double speed) {
    if (!(speed >= 1e-3)) {
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

  /** Submits a valid request; {@code listener} gets its tokens on the engine's thread. */
  public void submit(EngineRequest request, Consumer<Token> listener) {
    commands.add(() -> {
      engine.submit(request);
      listeners.put(request.id(), listener);
    });
  }

  /** Gives up a request; its listener hears nothing more after the current step. */
  public void abort(String requestId) {
    commands.add(() -> {
      engine.abort(requestId);
      listeners.remove(requestId);
    });
  }

  /** Empties the cache if nothing is in use; the answer comes from the engine's thread. */
  public CompletableFuture<Boolean> resetPrefixCache() {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    commands.add(() -> done.complete(engine.resetPrefixCache()));
    return done;
  }

  /** Gauges and counters as of the last step. */
  public EngineLoad load() {
    return load;
  }

  /** Stops in the middle of whatever is going on. */
  @Override
  public void close() {
    closed = true;
    commands.add(() -> {});
    LockSupport.unpark(thread);
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      while (!closed) {
        obey();
        if (!engine.idle()) {
          step();
        }
        load = engine.load();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs what is queued; waits for something if there is nothing else to do. */
  private void obey() throws InterruptedException {
    Runnable command = engine.idle() ? commands.take() : commands.poll();
    while (command != null) {
      command.run();
      command = commands.poll();
    }
  }

  private void step() {
    long start = System.nanoTime();
    double millis = engine.beginStep() / speed;
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
    while (left > 0 && !closed) {
      LockSupport.parkNanos(left);
      left = deadlineNanos - System.nanoTime();
    }
  }

  private void deliver(Token token) {
    Consumer<Token> listener =
        token.last() ? listeners.remove(token.requestId()) : listeners.get(token.requestId());
    if (listener != null) {
      listener.accept(token);
    }
  }
}
