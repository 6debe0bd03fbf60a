package dev.warmpath.eventingest;

import dev.warmpath.kvindex.KvIndex;
import java.time.Clock;
import java.util.List;

/**
 * Follows the event streams of a fleet and owns the one thread that writes the index.
 *
 * <p>Thread-safe.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class EventIngest implements AutoCloseable {

  /** Starts the writer of {@code index}; from now on nobody else may write it. */
  public EventIngest(KvIndex index, Clock clock) {}

  /** Follows one more engine and returns its slot in the index. */
  public int add(EngineSource source) {
    throw new UnsupportedOperationException("not built yet");
  }

  /** Stops following the engine and forgets what it held; unknown engines are ignored. */
  public void remove(EngineId id) {
    throw new UnsupportedOperationException("not built yet");
  }

  /** The engine's cache is known to be empty although its own event may come late. */
  public void cleared(EngineId id, String why) {
    throw new UnsupportedOperationException("not built yet");
  }

  /**
   * The engine's process is known to be gone or new: what it held is lost, its sequence starts
   * anew.
   */
  public void restarted(EngineId id, String why) {
    throw new UnsupportedOperationException("not built yet");
  }

  /** The state of every engine, by slot. */
  public List<EngineStatus> status() {
    throw new UnsupportedOperationException("not built yet");
  }

  /** Stops all sockets and threads; waits a few seconds at most. */
  @Override
  public void close() {}
}
