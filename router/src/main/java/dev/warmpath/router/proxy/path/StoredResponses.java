package dev.warmpath.router.proxy.path;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which replica made a response of {@code /v1/responses}: it alone can continue, show or cancel it.
 * Of too many the one used longest ago is forgotten.
 *
 * <p>Thread-safe.
 */
public final class StoredResponses {

  private static final int LONGEST_ID = 128;

  private final int limit;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, String> replicas;
  private final LongAdder found = new LongAdder();
  private final LongAdder unknown = new LongAdder();

  /**
   * @param limit responses that are remembered; 0: none
   */
  public StoredResponses(int limit) {
    this.limit = limit;
    this.replicas =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > StoredResponses.this.limit;
          }
        };
  }

  /**
   * Whether it may be the id of a response: letters, digits, hyphens, underscores, not too many.
   */
  static boolean isId(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_') {
        return false;
      }
    }
    return !text.isEmpty() && text.length() <= LONGEST_ID;
  }

  /** The replica made this response. */
  public void made(@Nullable String id, String replica) {
    if (id == null || !isId(id)) {
      return;
    }
    lock.lock();
    try {
      replicas.put(id, replica);
    } finally {
      lock.unlock();
    }
  }

  /** The name of the replica that made it; null if that is not known. */
  public @Nullable String replica(String id) {
    String replica;
    lock.lock();
    try {
      replica = replicas.get(id);
    } finally {
      lock.unlock();
    }
    (replica == null ? unknown : found).increment();
    return replica;
  }

  /** Responses that are remembered. */
  public int count() {
    lock.lock();
    try {
      return replicas.size();
    } finally {
      lock.unlock();
    }
  }

  /** How many may be. */
  public int limit() {
    return limit;
  }

  /** Requests that named a response whose replica is remembered. */
  public long found() {
    return found.sum();
  }

  /** Requests that named one whose replica is not. */
  public long unknown() {
    return unknown.sum();
  }
}
