package dev.warmpath.lab.index;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;

/**
 * Runs work on a thread of its own, as the event thread of a router is.
 *
 * <p>Thread-safe.
 */
final class WriterThread {

  private final ThreadFactory threads;

  WriterThread(ThreadFactory threads) {
    this.threads = threads;
  }

  /** Begins {@code work}. */
  <T> FutureTask<T> start(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    threads.newThread(task).start();
    return task;
  }

  /** Runs {@code work} to its end. */
  <T> T run(Callable<T> work) throws InterruptedException {
    return result(start(work));
  }

  /** Waits for {@code task}. */
  static <T> T result(FutureTask<T> task) throws InterruptedException {
    try {
      return task.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("the writer thread failed", e.getCause());
    }
  }
}
