package dev.warmpath.eventingest.zmq;

import dev.warmpath.eventingest.stream.StreamMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import org.zeromq.ZMonitor;

/**
 * Hears one engine's live stream: subscribes to everything and hands it over, undecoded.
 *
 * <p>The thread does nothing but poll, because subscriptions travel only while it does. A
 * connection whose peer does not shake hands in time is closed and opened anew.
 *
 * <p>Confined to its own thread, except {@link #reopen} and {@link #stop}.
 */
public final class EventSubscriber implements Runnable {

  private static final Logger LOG = LoggerFactory.getLogger(EventSubscriber.class);
  private static final AtomicLong MONITORS = new AtomicLong();
  private static final long POLL_MILLIS = 100;
  private static final long HANDSHAKE_NANOS = 1_500_000_000L;
  private static final long RETRY_NANOS = 500_000_000L;
  private static final int MESSAGES_A_TURN = 1024;
  private static final int WATCHED =
      ZMQ.EVENT_CONNECTED
          | ZMQ.EVENT_ACCEPTED
          | ZMQ.EVENT_HANDSHAKE_PROTOCOL
          | ZMQ.EVENT_DISCONNECTED;

  private final ZContext context;
  private final String endpoint;
  private final boolean bind;
  private final LiveSink sink;
  private volatile boolean stopped;
  private volatile boolean reopen;
  private volatile @Nullable String boundEndpoint;
  private final List<List<byte[]>> received = new ArrayList<>();
  private boolean up;
  private long deafSinceNanos;
  private boolean awaitsHandshake;

  public EventSubscriber(ZContext context, String endpoint, boolean bind, LiveSink sink) {
    this.context = context;
    this.endpoint = endpoint;
    this.bind = bind;
    this.sink = sink;
  }

  /** Opens the connection anew soon. */
  public void reopen() {
    reopen = true;
  }

  /** Ends {@link #run} soon. */
  public void stop() {
    stopped = true;
  }

  /** The endpoint that was bound, with its port; null until then, and if none is. */
  public @Nullable String boundEndpoint() {
    return boundEndpoint;
  }

  @Override
  public void run() {
    while (!stopped) {
      try {
        listen();
      } catch (ZMQException | IllegalArgumentException e) {
        LOG.warn("endpoint={} cannot be followed: {}", endpoint, e.toString());
        pause();
      }
      lost();
    }
  }

  private void listen() {
    reopen = false;
    awaitsHandshake = false;
    ZMQ.Socket live = context.createSocket(SocketType.SUB);
    ZMQ.Socket monitor = context.createSocket(SocketType.PAIR);
    try (ZMQ.Poller poller = context.createPoller(2)) {
      watch(live, monitor);
      poller.register(monitor, ZMQ.Poller.POLLIN);
      poller.register(live, ZMQ.Poller.POLLIN);
      open(live);
      while (!stopped && !reopen && !deaf()) {
        poller.poll(POLL_MILLIS);
        receive(live);
        drainMonitor(monitor); // before what was received: a loss is known before what follows it
        handOver();
      }
    } finally {
      live.monitor(null, 0);
      live.close();
      monitor.close();
    }
  }

  /** The monitor's reader comes first: a monitor that nobody reads stops the socket. */
  private static void watch(ZMQ.Socket live, ZMQ.Socket monitor) {
    String address = "inproc://warmpath-monitor-" + MONITORS.incrementAndGet();
    live.monitor(address, WATCHED);
    monitor.connect(address);
  }

  private void open(ZMQ.Socket live) {
    live.setHandshakeIvl(500);
    live.setHWM(0);
    live.setLinger(0);
    live.setReconnectIVL(100);
    live.setReconnectIVLMax(2_000);
    live.setTCPKeepAlive(1);
    live.subscribe(new byte[0]);
    if (bind) {
      live.bind(endpoint);
      boundEndpoint = live.getLastEndpoint();
    } else {
      live.connect(endpoint);
    }
  }

  private void drainMonitor(ZMQ.Socket monitor) {
    ZEvent event = ZEvent.recv(monitor, ZMQ.DONTWAIT);
    while (event != null) {
      heard(event.getEvent());
      event = ZEvent.recv(monitor, ZMQ.DONTWAIT);
    }
  }

  private void heard(ZMonitor.Event event) {
    switch (event) {
      case CONNECTED, ACCEPTED -> {
        awaitsHandshake = true;
        deafSinceNanos = System.nanoTime();
      }
      case HANDSHAKE_PROTOCOL -> found();
      default -> {
        awaitsHandshake = false;
        lost();
      }
    }
  }

  private void receive(ZMQ.Socket live) {
    for (int i = 0; i < MESSAGES_A_TURN; i++) {
      List<byte[]> frames = Frames.receive(live, ZMQ.DONTWAIT);
      if (frames == null) {
        return;
      }
      received.add(frames);
    }
  }

  private void handOver() {
    for (List<byte[]> frames : received) {
      StreamMessage message = StreamMessage.ofLive(frames);
      if (message == null || message.endsReplay()) {
        sink.badMessage(frames.size());
        continue;
      }
      if (awaitsHandshake) {
        found();
      }
      sink.message(message);
    }
    received.clear();
  }

  private boolean deaf() {
    return awaitsHandshake && System.nanoTime() - deafSinceNanos > HANDSHAKE_NANOS;
  }

  private void found() {
    awaitsHandshake = false;
    up = true;
    sink.up();
  }

  private void lost() {
    if (up) {
      up = false;
      sink.down();
    }
  }

  private static void pause() {
    LockSupport.parkNanos(RETRY_NANOS);
  }
}
