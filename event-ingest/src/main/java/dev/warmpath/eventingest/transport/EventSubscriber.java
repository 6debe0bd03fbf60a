package dev.warmpath.eventingest.transport;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;

/**
 * Hears one engine's live stream: subscribes to everything and hands it over, undecoded.
 *
 * <p>A connection whose peer does not shake hands in time is closed and opened anew, and so is one
 * that JeroMQ ended and gave up, which it does when a frame is beyond all measure. Where the port
 * is bound here, connections that bring no messages of the engine change nothing.
 *
 * <p>Confined to its poller's thread, except {@link #reopen}, {@link #stop} and {@link
 * #boundEndpoint}.
 */
public final class EventSubscriber {

  private static final Logger LOG = LoggerFactory.getLogger(EventSubscriber.class);
  private static final long RETRY_NANOS = 500_000_000L;
  private static final int MESSAGES_A_TURN = 256;

  private final ZContext context;
  private final String endpoint;
  private final boolean bind;
  private final LiveSink sink;
  private final long messageBytes;
  private final ConnectionState connection;
  private final List<Frames> received = new ArrayList<>();
  private volatile boolean stopped;
  private volatile boolean reopen;
  private volatile @Nullable String boundEndpoint;
  private volatile @Nullable LiveSocket live;
  private long retryAtNanos = System.nanoTime();
  private boolean warned;

  /**
   * @param messageBytes of the largest message; twice as many may wait for the poller
   */
  public EventSubscriber(
      ZContext context, String endpoint, boolean bind, LiveSink sink, long messageBytes) {
    this.context = context;
    this.endpoint = endpoint;
    this.bind = bind;
    this.sink = sink;
    this.messageBytes = messageBytes;
    connection = new ConnectionState(bind, sink);
  }

  /** Bytes that wait in the live socket; may be asked by any thread. */
  public long queuedBytes() {
    LiveSocket open = live;
    return open == null ? 0 : open.queuedBytes();
  }

  /** Opens the connection anew soon. */
  public void reopen() {
    reopen = true;
  }

  /** Closes the connection for good soon. */
  public void stop() {
    stopped = true;
  }

  /** The endpoint that was bound, with its port; null until then, and if none is. */
  public @Nullable String boundEndpoint() {
    return boundEndpoint;
  }

  boolean stopped() {
    return stopped;
  }

  /** Whether a connection was made since this was last asked. */
  boolean connectedSince() {
    return connection.connectedSince();
  }

  /** Hands over what came, at most a turn's worth; how many messages. */
  int receive() {
    LiveSocket open = live;
    if (open == null || !open.isReadable()) {
      return 0;
    }
    for (int i = 0; i < MESSAGES_A_TURN; i++) {
      Frames message = open.receive();
      if (message == null) {
        break;
      }
      received.add(message);
    }
    drainMonitor(open); // before what was received: a loss is known before what follows it
    return handOver();
  }

  /** Looks after the connection: opens, watches, closes it. */
  void watch(ZMQ.Poller poller, Descriptors descriptors) {
    LiveSocket open = live;
    if (open != null) {
      drainMonitor(open);
      if (connection.isGivenUp()) {
        reopen = true;
        if (connection.wasUp()) {
          // nothing else in ZMTP's frames can break it once hands are shaken
          sink.problem(StreamCounter.OVERSIZED_MESSAGES);
        }
      }
      if (reopen || connection.isSilent() || open.changesLost()) {
        close(poller);
      }
    }
    if (live == null && System.nanoTime() - retryAtNanos >= 0 && descriptors.takeSocket()) {
      open(poller);
    }
  }

  /** Closes the sockets. */
  void close(ZMQ.Poller poller) {
    LiveSocket open = live;
    live = null;
    try {
      if (open != null) {
        open.close(poller);
      }
    } finally {
      connection.closed();
    }
  }

  private void open(ZMQ.Poller poller) {
    reopen = false;
    connection.opening();
    try {
      LiveSocket opened = new LiveSocket(context, messageBytes);
      live = opened;
      boundEndpoint = opened.open(poller, endpoint, bind);
      warned = false;
    } catch (RuntimeException e) {
      if (!warned) {
        LOG.warn("endpoint={} cannot be followed yet: {}", endpoint, e.toString());
      }
      warned = true; // each attempt would say the same
      fail(poller);
    }
  }

  /** Closes the sockets, to open others after a while. */
  void fail(ZMQ.Poller poller) {
    received.clear();
    retryAtNanos = System.nanoTime() + RETRY_NANOS;
    close(poller);
  }

  private void drainMonitor(LiveSocket open) {
    ZEvent change = open.change();
    while (change != null) {
      connection.changed(change);
      change = open.change();
    }
  }

  private int handOver() {
    for (Frames frames : received) {
      byte[] last = frames.all().get(frames.all().size() - 1);
      if (FrameBudget.foundNoRoom(last)) {
        sink.refused();
        continue;
      }
      if (FrameBudget.isTooLarge(last)) {
        sink.problem(StreamCounter.OVERSIZED_MESSAGES);
      }
      StreamMessage message = StreamMessage.ofLive(frames.all(), System.nanoTime());
      if (message == null || message.endsReplay()) {
        sink.problem(StreamCounter.BAD_MESSAGES);
        continue;
      }
      connection.published(frames.peer());
      sink.message(frames.all().get(0), message);
    }
    int messages = received.size();
    received.clear();
    connection.lostIfGone();
    return messages;
  }

  /**
   * A socket that is subscribed to all of an engine's topics, with the changes of its connections
   * and its bound in bytes.
   *
   * <p>Confined to its poller's thread, except {@link #queuedBytes}.
   */
  private static final class LiveSocket {

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
}
