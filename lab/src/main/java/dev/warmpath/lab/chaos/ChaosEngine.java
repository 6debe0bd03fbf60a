package dev.warmpath.lab.chaos;

import dev.warmpath.simulator.live.LiveEngine;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A simulated engine behind a port that fails on command.
 *
 * <p>Thread-safe; one thread begins and heals faults.
 */
final class ChaosEngine implements AutoCloseable {

  private static final int RESTARTS = 100;
  private static final long PAUSE_MILLIS = 50;

  private final String name;
  private final LiveEngine engine;
  private final FaultyPort port;
  private volatile @Nullable EngineFault fault;

  /**
   * @param engine stays the caller's to close
   */
  ChaosEngine(String name, LiveEngine engine) {
    this.name = name;
    this.engine = engine;
    this.port = new FaultyPort(engine.ports().http());
  }

  String name() {
    return name;
  }

  /** Where the router reaches it. */
  String url() {
    return "http://127.0.0.1:" + port.port();
  }

  /** The engine itself, past the port. */
  LiveEngine engine() {
    return engine;
  }

  /** How it fails now; null if it does not. */
  @Nullable EngineFault fault() {
    return fault;
  }

  void begin(EngineFault next) {
    fault = next;
    port.begin(next);
    if (next == EngineFault.KILLED) {
      engine.kill();
    }
  }

  void heal() throws InterruptedException {
    if (fault == EngineFault.KILLED) {
      restart();
    }
    port.heal();
    fault = null;
  }

  /** While it was dead, the kernel may have lent one of its ports to an outgoing connection. */
  private void restart() throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        engine.restart();
        return;
      } catch (IllegalStateException e) {
        if (attempt == RESTARTS) {
          throw e;
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    }
  }

  @Override
  public void close() {
    port.close();
  }
}
