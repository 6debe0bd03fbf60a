package dev.warmpath.eventingest.transport;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;

/**
 * A socket that is subscribed to all of an engine's topics, with the changes of its connections and
 * its bound in bytes.
 *
 * <p>Confined to its poller's thread, except {@link #queuedBytes}.
 */
final class LiveSocket {

  /** What the poller has not fetched stays with the engine, which then drops and shows a gap. */
  private static final int HIGH_WATER_MARK = 16_384;

  /** Of the largest message; one that comes while less waits always finds room. */
  private static final int QUEUED_MESSAGES = 2;

  private static final int WATCHED =
      ZMQ.EVENT_CONNECTED
          | ZMQ.EVENT_ACCEPTED
          | ZMQ.EVENT_HANDSHAKE_PROTOCOL
          | ZMQ.EVENT_DISCONNECTED
          | ZMQ.EVENT_CONNECT_RETRIED;

  /** Changes that may wait for the poller; a peer may connect and leave without end. */
  private static final int MOST_CHANGES = 1_024;

  private final ZMQ.Socket socket;
  private final FrameBudget budget;

  /** What the sockets' thread reported; the hook costs no socket, unlike JeroMQ's monitor. */
  private final BlockingQueue<ZEvent> changes = new LinkedBlockingQueue<>(MOST_CHANGES);

  private volatile boolean changesLost;

  /** Not its place in the poller, which changes when another one's socket is closed. */
  private final ZMQ.PollItem polled;

  /**
   * @param messageBytes of the largest message; twice as many may wait
   */
  LiveSocket(ZContext context, long messageBytes) {
    socket = context.createSocket(SocketType.SUB);
    polled = new ZMQ.PollItem(socket, ZMQ.Poller.POLLIN);
    budget = new FrameBudget(messageBytes, QUEUED_MESSAGES * messageBytes);
  }

  /**
   * Connects or binds; after a failure it is still to be closed.
   *
   * @return the endpoint that was bound, or null
   */
  @Nullable String open(ZMQ.Poller poller, String endpoint, boolean bind) {
    socket.setEventHook(this::changed, WATCHED);
    poller.register(polled);
    socket.setHandshakeIvl(500);
    socket.setRcvHWM(HIGH_WATER_MARK);
    budget.bound(socket);
    socket.setLinger(0);
    socket.setReconnectIVL(100);
    socket.setReconnectIVLMax(2_000);
    socket.setTCPKeepAlive(1);
    socket.subscribe(new byte[0]);
    if (bind) {
      socket.bind(endpoint);
      return socket.getLastEndpoint();
    }
    socket.connect(endpoint);
    return null;
  }

  private void changed(ZEvent change) {
    if (!changes.offer(change)) {
      changesLost = true;
    }
  }

  /** Whether it is not known any more which connections are open. */
  boolean changesLost() {
    return changesLost;
  }

  /** Bytes that wait in it; may be asked by any thread. */
  long queuedBytes() {
    return budget.queuedBytes();
  }

  /** Whether messages came, by the last poll. */
  boolean isReadable() {
    return polled.isReadable();
  }

  /** The next message, or null if none waits. */
  @Nullable Frames receive() {
    Frames message = Frames.receive(socket, ZMQ.DONTWAIT);
    if (message == null) {
      budget.drained();
    } else {
      budget.release(message.all());
    }
    return message;
  }

  /** The next change of its connections, or null if there is none. */
  @Nullable ZEvent change() {
    return changes.poll();
  }

  void close(ZMQ.Poller poller) {
    try {
      poller.unregister(socket);
    } finally {
      socket.close();
      budget.drained();
    }
  }
}
