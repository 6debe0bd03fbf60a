package dev.warmpath.lab.chaos;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Does to one engine what its plan says, on a thread of its own.
 *
 * <p>Thread-safe.
 */
final class FaultInjector {

  private final ChaosEngine engine;
  private final FaultPlan plan;
  private final long startNanos;
  private final Map<EngineFault, Integer> begun = new EnumMap<>(EngineFault.class);
  private final Thread thread;
  private volatile @Nullable RuntimeException failure;

  /**
   * Begins.
   *
   * @param startNanos the run's start, by {@link System#nanoTime}
   */
  FaultInjector(ChaosEngine engine, FaultPlan plan, long startNanos) {
    this.engine = engine;
    this.plan = plan;
    this.startNanos = startNanos;
    thread = new Thread(this::run, "chaos-" + engine.name());
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Waits until the plan is done and the engine healed; what was begun, by kind.
   *
   * @throws IllegalStateException if the engine could not be healed
   */
  Map<EngineFault, Integer> await() throws InterruptedException {
    thread.join();
    if (failure != null) {
      throw new IllegalStateException(engine.name() + " could not be healed", failure);
    }
    return Map.copyOf(begun);
  }

  private void run() {
    try {
      for (FaultPlan.Timed timed : plan.faults()) {
        sleepUntil(timed.fromMillis());
        engine.begin(timed.fault());
        begun.merge(timed.fault(), 1, Integer::sum);
        sleepUntil(timed.toMillis());
        engine.heal();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      failure = e;
    }
  }

  private void sleepUntil(long millis) throws InterruptedException {
    long left = startNanos + TimeUnit.MILLISECONDS.toNanos(millis) - System.nanoTime();
    if (left > 0) {
      TimeUnit.NANOSECONDS.sleep(left);
    }
  }
}
