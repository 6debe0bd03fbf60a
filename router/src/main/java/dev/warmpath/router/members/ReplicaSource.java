package dev.warmpath.router.members;

import dev.warmpath.router.config.ReplicaConfig;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds replicas, again and again until it is closed.
 *
 * <p>A source that fails keeps the last set that it found: an empty list means that there are none.
 *
 * <p>Thread-safe.
 */
public interface ReplicaSource extends AutoCloseable {

  /** Its name in logs, metrics and the admin API; no two sources of a router share one. */
  String name();

  /**
   * Starts looking.
   *
   * @param found gets the whole set whenever it has changed, never by two threads at once
   */
  void start(Consumer<List<ReplicaConfig>> found);

  /** Why its last look failed; null if it did not. */
  @Nullable String problem();

  /** Stops looking. Nothing is found after it has returned. */
  @Override
  void close();
}
