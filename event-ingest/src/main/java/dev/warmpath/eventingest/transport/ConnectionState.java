package dev.warmpath.eventingest.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZEvent;

/**
 * Whether one engine's connection is up, by what the monitor of its socket and its messages show.
 *
 * <p>Confined to its poller's thread.
 */
final class ConnectionState {

  private static final long HANDSHAKE_NANOS = 1_500_000_000L;

  /** By then JeroMQ has begun to connect again, if it does at all. */
  private static final long GIVEN_UP_NANOS = 2_000_000_000L;

  /** The protocol of a peer that names no version of ZMTP: an HTTP client, a port scanner. */
  private static final int UNVERSIONED = 0;

  private final boolean bind;
  private final LiveSink sink;
  private final Peers peers = new Peers();
  private boolean up;
  private boolean connected;
  private boolean awaitsHandshake;
  private long silentSinceNanos;
  private boolean mayBeGivenUp;
  private boolean wasUp;
  private long goneSinceNanos;

  ConnectionState(boolean bind, LiveSink sink) {
    this.bind = bind;
    this.sink = sink;
  }

  /** A socket is opened. */
  void opening() {
    awaitsHandshake = false;
    mayBeGivenUp = false;
  }

  /** The socket is closed, and all its connections are. */
  void closed() {
    peers.clear();
    lost();
  }

  /** The socket's monitor reports a change. */
  void changed(ZEvent event) {
    switch (event.getEvent()) {
      case CONNECTED, ACCEPTED -> {
        connected = true;
        mayBeGivenUp = false;
        peers.opened(event.getValue());
        awaitsHandshake = !bind; // a bound socket cuts off who does not shake hands
        silentSinceNanos = System.nanoTime();
      }
      case HANDSHAKE_PROTOCOL -> shookHands(event.getValue());
      case CONNECT_RETRIED -> mayBeGivenUp = false;
      default -> {
        awaitsHandshake = false;
        mayBeGivenUp = !bind; // a port that is bound stays open for whoever comes
        goneSinceNanos = System.nanoTime();
        wasUp = up;
        peers.closed(event.getValue());
        lostIfGone();
      }
    }
  }

  private void shookHands(int protocol) {
    if (protocol != UNVERSIONED && !up) {
      peers.forgetPublisher();
      found();
    }
  }

  /** A message of the engine's came from this peer. */
  void published(String peer) {
    if (peers.publishes(peer) || awaitsHandshake) {
      found();
    }
  }

  /** Whether a connection was made since this was last asked. */
  boolean connectedSince() {
    boolean since = connected;
    connected = false;
    return since;
  }

  /** Whether the peer does not shake hands in time. */
  boolean isSilent() {
    return awaitsHandshake && System.nanoTime() - silentSinceNanos > HANDSHAKE_NANOS;
  }

  /** Whether JeroMQ ended the connection and gave it up. */
  boolean isGivenUp() {
    return mayBeGivenUp && System.nanoTime() - goneSinceNanos > GIVEN_UP_NANOS;
  }

  /** Whether the connection that is gone was up. */
  boolean wasUp() {
    return wasUp;
  }

  private void found() {
    awaitsHandshake = false;
    up = true;
    sink.up();
  }

  /** Reports the loss if no connection is left on which the engine may publish. */
  void lostIfGone() {
    if (peers.isEngineGone()) {
      lost();
    }
  }

  private void lost() {
    if (up) {
      up = false;
      sink.down();
    }
  }

  /**
   * The open connections of one live socket, and which of them the engine publishes on.
   *
   * <p>Anything may connect to a port that is bound here. Only the connection that brings messages
   * is the engine's; until the first message any may be.
   *
   * <p>Confined to its poller's thread.
   */
  private static final class Peers {

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
}
