package dev.warmpath.simulator.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a command end in order when the process is told to end (Ctrl-C, SIGTERM): the process waits
 * until this is closed.
 *
 * <p>Thread-safe.
 */
final class Ending implements AutoCloseable {

  private static final long PATIENCE_SECONDS = 5;

  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean asked;

  /** An ending that the process will ask for. */
  static Ending ofProcess() {
    Ending ending = new Ending();
    Runtime.getRuntime().addShutdownHook(new Thread(ending::ask, "warmpath-ending"));
    return ending;
  }

  /** Whether the command is to end. */
  boolean isAsked() {
    return asked;
  }

  @Override
  public void close() {
    closed.countDown();
  }

  private void ask() {
    asked = true;
    try {
      closed.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
