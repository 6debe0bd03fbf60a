package dev.warmpath.router.proxy;

import dev.warmpath.router.fleet.Replica;

/**
 * Hears what happens to requests, for metrics. Called on event loops; implementations are
 * thread-safe, fast and throw nothing.
 *
 * <p>Thread-safe.
 */
public interface ProxyListener {

  /** Ignores everything. */
  ProxyListener NONE = new ProxyListener() {};

  /** How the response to a client ended. */
  enum Ending {
    /** All of it was sent. */
    COMPLETE,
    /** The client went away before. */
    CLIENT_GONE,
    /** The replica broke it off, and so did we. */
    BROKEN_OFF,
    /** A time limit or our own end broke it off. */
    CUT_OFF
  }

  /**
   * A request ended.
   *
   * @param status HTTP status that was sent, 499 if the client went before there was one
   */
  default void ended(Route route, int status, Ending ending, long durationNanos) {}

  /** The first byte of a replica's good response came this long after the request. */
  default void firstByte(Route route, Replica replica, long sinceRequestNanos) {}

  /** Another replica is tried. */
  default void retried(String cause) {}

  /** The router answered by itself. */
  default void rejected(String code) {}

  /** A request left the queue, so long after it came. */
  default void queued(long sinceRequestNanos) {}

  /** A request was routed without its prompt because it was not read. */
  default void unread(String cause) {}
}
