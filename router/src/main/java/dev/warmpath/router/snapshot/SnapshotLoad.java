package dev.warmpath.router.snapshot;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * The snapshot being read, on a thread of its own.
 *
 * <p>Thread-safe.
 */
public final class SnapshotLoad {

  private final FutureTask<RestoredState> task;

  /** Begins to read on a thread of its own. */
  public SnapshotLoad(Callable<RestoredState> reading) {
    task = new FutureTask<>(reading);
    Thread thread = new Thread(task, "warmpath-snapshot-reader");
    thread.setDaemon(true);
    thread.start();
  }

  /** Waits for the end and returns what was read. */
  public RestoredState await() throws IOException {
    try {
      return task.get();
    } catch (ExecutionException e) {
      throw failure(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** Leaves the directory, for a start that fails before the state is awaited. */
  public void releaseDirectory() {
    try {
      await().leaveDirectory();
    } catch (IOException e) {
      // then nobody holds it
    }
  }

  private static IOException failure(@Nullable Throwable cause) {
    if (cause instanceof RuntimeException bug) {
      throw bug;
    }
    if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof IOException expected ? expected : new IOException(cause);
  }
}
