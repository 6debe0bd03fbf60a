package dev.warmpath.router.proxy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which replica made a response of {@code /v1/responses}, for whom: that replica alone can
 * continue, show or cancel it, and for that client only. Of too many the one used longest ago is
 * forgotten.
 *
 * <p>Thread-safe.
 */
public final class StoredResponses {

  private static final int LONGEST_ID = 128;

  private final int limit;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Made> responses;
  private volatile Listener listener = (id, replica, client) -> {};
  private final LongAdder found = new LongAdder();
  private final LongAdder unknown = new LongAdder();

  private record Made(String replica, @Nullable String client) {}

  /**
   * @param limit responses that are remembered; 0: none
   */
  public StoredResponses(int limit) {
    this.limit = limit;
    this.responses =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, Made> eldest) {
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

  /**
   * The replica made this response. As clients may give ids, one that another client has stays its.
   *
   * @param client the name of the API key it was made for; null without keys
   */
  public void made(@Nullable String id, String replica, @Nullable String client) {
    if (id != null && isId(id) && limit > 0) {
      remember(id, replica, client);
      listener.made(id, replica, client);
    }
  }

  /** Hears where a response was made here. */
  public interface Listener {
    void made(String id, String replica, @Nullable String client);
  }

  /** From now on it hears of each. */
  public void tell(Listener hears) {
    listener = hears;
  }

  /** Another router saw it made there. */
  public void heard(String id, String replica, @Nullable String client) {
    if (isId(id)) {
      remember(id, replica, client);
    }
  }

  private void remember(String id, String replica, @Nullable String client) {
    lock.lock();
    try {
      Made known = responses.get(id);
      if (known == null || Objects.equals(known.client, client)) {
        responses.put(id, new Made(replica, client));
      }
    } finally {
      lock.unlock();
    }
  }

  /** The name of the replica that made it; null if that is not known. */
  public @Nullable String replica(String id) {
    Made made = find(id);
    (made == null ? unknown : found).increment();
    return made == null ? null : made.replica;
  }

  /**
   * Whether the response was made for this client, as far as that is remembered.
   *
   * @param client null without keys: then all are everybody's
   */
  public boolean isOf(String id, @Nullable String client) {
    if (client == null) {
      return true;
    }
    Made made = find(id);
    return made != null && client.equals(made.client);
  }

  private @Nullable Made find(String id) {
    lock.lock();
    try {
      return responses.get(id);
    } finally {
      lock.unlock();
    }
  }

  /** Makes something of a response that is remembered. */
  public interface Reading<T> {
    T of(String id, String replica, @Nullable String client);
  }

  /** All that are remembered, those used longest ago first. */
  public <T> List<T> all(Reading<T> reading) {
    lock.lock();
    try {
      List<T> all = new ArrayList<>(responses.size());
      responses.forEach((id, made) -> all.add(reading.of(id, made.replica, made.client)));
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** Responses that are remembered. */
  public int count() {
    lock.lock();
    try {
      return responses.size();
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
