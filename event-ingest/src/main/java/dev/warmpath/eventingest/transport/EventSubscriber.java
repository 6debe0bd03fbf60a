package dev.warmpath.eventingest.transport;

import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.session.StreamMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

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
  private static final AtomicLong MONITORS = new AtomicLong();
  private static final long HANDSHAKE_NANOS = 1_500_000_000L;
  private static final long RETRY_NANOS = 500_000_000L;

  /** By then JeroMQ has begun to connect again, if it does at all. */
  private static final long GIVEN_UP_NANOS = 2_000_000_000L;

  private static final int MESSAGES_A_TURN = 256;

  /** What the poller has not fetched stays with the engine, which then drops and shows a gap. */
  private static final int HIGH_WATER_MARK = 16_384;

  /** Of the largest message; one that comes while less waits always finds room. */
  private static final int QUEUED_MESSAGES = 2;

  /** The protocol of a peer that names no version of ZMTP: an HTTP client, a port scanner. */
  private static final int UNVERSIONED = 0;

  private static final int WATCHED =
      ZMQ.EVENT_CONNECTED
          | ZMQ.EVENT_ACCEPTED
          | ZMQ.EVENT_HANDSHAKE_PROTOCOL
          | ZMQ.EVENT_DISCONNECTED
          | ZMQ.EVENT_CONNECT_RETRIED;

  private final ZContext context;
  private final String endpoint;
  private final boolean bind;
  private final LiveSink sink;
  private final long messageBytes;
  private final Peers peers = new Peers();
  private final List<Frames> received = new ArrayList<>();
  private volatile boolean stopped;
  private volatile boolean reopen;
  private volatile @Nullable String boundEndpoint;
  private ZMQ.@Nullable Socket live;
  private ZMQ.@Nullable Socket monitor;
  private volatile FrameBudget budget;
  private int place;
  private long retryAtNanos = System.nanoTime();
  private boolean up;
  private long silentSinceNanos;
  private boolean awaitsHandshake;
  private boolean mayBeGivenUp;
  private boolean wasUp;
  private long goneSinceNanos;
  private boolean connected;

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
    budget = newBudget();
  }

  private FrameBudget newBudget() {
    return new FrameBudget(messageBytes, QUEUED_MESSAGES * messageBytes);
  }

  /** Bytes that wait in the live socket; may be asked by any thread. */
  public long queuedBytes() {
    return budget.queuedBytes();
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

  /** Hands over what came, at most a turn's worth; how many messages. */
  int receive(ZMQ.Poller poller) {
    ZMQ.Socket open = live;
    if (open == null || !poller.pollin(place)) {
      return 0;
    }
    for (int i = 0; i < MESSAGES_A_TURN; i++) {
      Frames message = Frames.receive(open, ZMQ.DONTWAIT);
      if (message == null) {
        budget.drained();
        break;
      }
      budget.release(message.all());
      received.add(message);
    }
    drainMonitor(); // before what was received: a loss is known before what follows it
    return handOver();
  }

  /** Looks after the connection: opens, watches, closes it. */
  void watch(ZMQ.Poller poller) {
    drainMonitor();
    if (live != null && givenUp()) {
      reopen = true;
      if (wasUp) {
        sink.problem(
            StreamCounter
                .OVERSIZED_MESSAGES); // nothing else in ZMTP's frames can break it once hands are
        // shaken
      }
    }
    if (live != null && (reopen || silent())) {
      close(poller);
    }
    if (live == null && System.nanoTime() - retryAtNanos >= 0) {
      open(poller);
    }
  }

  /** Whether a connection was made since this was last asked. */
  boolean connectedSince() {
    boolean since = connected;
    connected = false;
    return since;
  }

  /** Closes the sockets. */
  void close(ZMQ.Poller poller) {
    ZMQ.Socket open = live;
    if (open != null) {
      poller.unregister(open);
      open.monitor(null, 0);
      open.close();
    }
    if (monitor != null) {
      monitor.close();
    }
    live = null;
    monitor = null;
    peers.clear();
    budget.drained();
    lost();
  }

  private void open(ZMQ.Poller poller) {
    reopen = false;
    awaitsHandshake = false;
    mayBeGivenUp = false;
    ZMQ.Socket opened = context.createSocket(SocketType.SUB);
    live = opened;
    try {
      monitor = monitored(opened);
      place = poller.register(opened, ZMQ.Poller.POLLIN);
      open(opened);
    } catch (ZMQException | IllegalArgumentException e) {
      LOG.warn("endpoint={} cannot be followed: {}", endpoint, e.toString());
      fail(poller);
    }
  }

  /** Closes the sockets, to open others after a while. */
  void fail(ZMQ.Poller poller) {
    received.clear();
    retryAtNanos = System.nanoTime() + RETRY_NANOS;
    close(poller);
  }

  /** The monitor's reader comes first: a monitor that nobody reads stops the socket. */
  private ZMQ.Socket monitored(ZMQ.Socket socket) {
    String address = "inproc://warmpath-monitor-" + MONITORS.incrementAndGet();
    socket.monitor(address, WATCHED);
    ZMQ.Socket reader = context.createSocket(SocketType.PAIR);
    reader.connect(address);
    return reader;
  }

  private void open(ZMQ.Socket socket) {
    socket.setHandshakeIvl(500);
    socket.setRcvHWM(HIGH_WATER_MARK);
    budget = newBudget();
    budget.bound(socket);
    socket.setLinger(0);
    socket.setReconnectIVL(100);
    socket.setReconnectIVLMax(2_000);
    socket.setTCPKeepAlive(1);
    socket.subscribe(new byte[0]);
    if (bind) {
      socket.bind(endpoint);
      boundEndpoint = socket.getLastEndpoint();
    } else {
      socket.connect(endpoint);
    }
  }

  private void drainMonitor() {
    ZMQ.Socket reader = monitor;
    if (reader == null) {
      return;
    }
    ZEvent event = ZEvent.recv(reader, ZMQ.DONTWAIT);
    while (event != null) {
      heard(event);
      event = ZEvent.recv(reader, ZMQ.DONTWAIT);
    }
  }

  private void heard(ZEvent event) {
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
      StreamMessage message = StreamMessage.ofLive(frames.all());
      if (message == null || message.endsReplay()) {
        sink.problem(StreamCounter.BAD_MESSAGES);
        continue;
      }
      if (peers.publishes(frames.peer()) || awaitsHandshake) {
        found();
      }
      sink.message(frames.all().get(0), message);
    }
    int messages = received.size();
    received.clear();
    lostIfGone();
    return messages;
  }

  private boolean silent() {
    return awaitsHandshake && System.nanoTime() - silentSinceNanos > HANDSHAKE_NANOS;
  }

  private boolean givenUp() {
    return mayBeGivenUp && System.nanoTime() - goneSinceNanos > GIVEN_UP_NANOS;
  }

  private void found() {
    awaitsHandshake = false;
    up = true;
    sink.up();
  }

  private void lostIfGone() {
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
}
