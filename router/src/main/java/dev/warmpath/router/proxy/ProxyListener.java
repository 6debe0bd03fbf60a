package dev.warmpath.router.proxy;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.dispatch.Assignment;
import org.jspecify.annotations.Nullable;

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

  /** The first byte of a replica's good response, no comment, came this long after the request. */
  default void firstByte(Route route, Replica replica, long sinceRequestNanos) {}

  /**
   * A request is sent to its first replica.
   *
   * @param routingNanos from its last byte, without its wait in the queue
   */
  default void sent(long routingNanos) {}

  /** Another chunk of a stream brought parts of the answer, so long after the last one. */
  default void tokens(Replica replica, long sinceLastNanos) {}

  /**
   * A good response is complete.
   *
   * @param model the model that the request names, or null
   */
  default void usage(Assignment assignment, @Nullable String model, Usage usage) {}

  /** Another replica is tried. */
  default void retried(String cause) {}

  /** The router answered by itself. */
  default void rejected(String code) {}

  /** A request left the queue, so long after it came. */
  default void queued(long sinceRequestNanos) {}
}
