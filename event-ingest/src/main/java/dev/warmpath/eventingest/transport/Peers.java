package dev.warmpath.eventingest.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of one live socket, and which of them the engine publishes on.
 *
 * <p>Anything may connect to a port that is bound here. Only the connection that brings messages is
 * the engine's; until the first message any may be.
 *
 * <p>Confined to its poller's thread.
 */
final class Peers {

  /** Address and port of the other side, for each connection. */
  private final Map<SocketChannel, String> open = new HashMap<>();

  private @Nullable String publisher;

  /** A connection was made; null or closed if it is gone again. */
  void opened(@Nullable SocketChannel connection) {
    try {
      if (connection != null && connection.getRemoteAddress() instanceof InetSocketAddress peer) {
        open.put(connection, peer.getAddress().getHostAddress() + ":" + peer.getPort());
      }
    } catch (IOException e) {
      return; // it is gone again
    }
  }

  /** A connection is gone. */
  void closed(@Nullable SocketChannel connection) {
    open.remove(connection);
  }

  /** The next message shows on which connection the engine publishes. */
  void forgetPublisher() {
    publisher = null;
  }

  /** No connection is left. */
  void clear() {
    open.clear();
    forgetPublisher();
  }

  /** Whether the engine's connection is gone; as long as none is known to be its own, all are. */
  boolean isEngineGone() {
    return publisher == null ? open.isEmpty() : !open.containsValue(publisher);
  }

  /**
   * A message came from this peer, perhaps before its connection was closed.
   *
   * @param peer as in {@link Frames#peer}
   * @return whether the engine publishes on another open connection than before
   */
  boolean publishes(String peer) {
    if (peer.equals(publisher) || peer.isEmpty()) {
      return false;
    }
    boolean isOpen = open.containsValue(peer);
    boolean moved = publisher != null && isOpen;
    if (publisher == null || isOpen) {
      publisher = peer;
    }
    return moved;
  }
}
