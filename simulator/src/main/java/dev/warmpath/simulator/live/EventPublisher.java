package dev.warmpath.simulator.live;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMsg;

/**
 * Publishes one engine lifetime's batches on a PUB socket, numbered from 0, and answers replay
 * requests from a bounded buffer.
 *
 * <p>Both sockets are bound by the constructor and belong to one thread from then on, which serves
 * replays between batches, as vLLM does. A full queue stalls the caller of {@link #publish}: an
 * engine would rather wait than lose events.
 *
 * <p>Thread-safe.
 */
public final class EventPublisher implements AutoCloseable {

  private static final long IDLE_MILLIS = 20;
  private static final int HANDSHAKE_MILLIS = 500;
  private static final byte[] EMPTY = {};
  private static final byte[] END = ByteBuffer.allocate(Long.BYTES).putLong(-1).array();

  private final PublisherOptions options;
  private final EventEncoder encoder;
  private final DoubleSupplier wallClockSeconds;
  private final byte[] topic;
  private final BlockingQueue<List<CacheEvent>> queue;
  private final Deque<Sent> buffer = new ArrayDeque<>();
  private final ZContext context = new ZContext();
  private final ZMQ.Socket live;
  private final ZMQ.Socket replay;
  private final int livePort;
  private final int replayPort;
  private final Thread thread;
  private volatile boolean closed;
  private long sequence;

  @SuppressWarnings("ArrayRecordComponent") // frames, never compared
  private record Sent(byte[] sequence, byte[] payload) {}

  /**
   * Binds both ports and starts.
   *
   * @param livePort 0 for any
   * @param replayPort 0 for any
   * @param wallClockSeconds seconds since the epoch, for the batches' timestamps
   */
  public EventPublisher(
      PublisherOptions options,
      int livePort,
      int replayPort,
      boolean namesGroups,
      DoubleSupplier wallClockSeconds) {
    this.options = options;
    this.wallClockSeconds = wallClockSeconds;
    encoder = new EventEncoder(options.form(), options.bytesHashes(), namesGroups);
    topic = options.topic().getBytes(StandardCharsets.UTF_8);
    queue = new ArrayBlockingQueue<>(options.queueBatches());
    live = socket(SocketType.PUB, options.highWaterMark());
    replay = socket(SocketType.ROUTER, 2 * (options.bufferBatches() + 1));
    try {
      this.livePort = bind(live, livePort);
      this.replayPort = bind(replay, replayPort);
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
    thread = new Thread(this::run, "engine-events-" + this.livePort);
    thread.setDaemon(true);
    thread.start();
  }

  public int livePort() {
    return livePort;
  }

  public int replayPort() {
    return replayPort;
  }

  /** Queues the events of one step as one batch; nothing is sent for none. */
  public void publish(List<CacheEvent> events) {
    if (events.isEmpty() || closed) {
      return;
    }
    try {
      queue.put(events);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Stops at once; what was not sent is lost. Waits until the ports are free. */
  @Override
  public void close() {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private ZMQ.Socket socket(SocketType type, int highWaterMark) {
    ZMQ.Socket socket = context.createSocket(type);
    socket.setHandshakeIvl(HANDSHAKE_MILLIS);
    socket.setSndHWM(highWaterMark);
    socket.setLinger(0);
    return socket;
  }

  private static int bind(ZMQ.Socket socket, int port) {
    String endpoint = "tcp://127.0.0.1:" + port;
    if (port == 0) {
      return socket.bindToRandomPort("tcp://127.0.0.1");
    }
    if (!socket.bind(endpoint)) {
      throw new IllegalStateException("cannot bind " + endpoint);
    }
    return port;
  }

  private void run() {
    try (context) {
      while (!closed) {
        answerReplays();
        List<CacheEvent> events = next();
        if (events != null) {
          send(events);
        }
      }
    }
  }

  private @Nullable List<CacheEvent> next() {
    try {
      return queue.poll(IDLE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      closed = true;
      return null;
    }
  }

  private void send(List<CacheEvent> events) {
    byte[] payload = encoder.encode(wallClockSeconds.getAsDouble(), events, 0);
    byte[] number = ByteBuffer.allocate(Long.BYTES).putLong(sequence++).array();
    live.sendMore(topic);
    live.sendMore(number);
    live.send(payload);
    buffer.add(new Sent(number, payload));
    if (buffer.size() > options.bufferBatches()) {
      buffer.remove();
    }
  }

  private void answerReplays() {
    ZMsg request = ZMsg.recvMsg(replay, ZMQ.DONTWAIT);
    while (request != null) {
      answer(request);
      request = ZMsg.recvMsg(replay, ZMQ.DONTWAIT);
    }
  }

  /** A request is identity, empty, first sequence; anything else is ignored, without an answer. */
  private void answer(ZMsg request) {
    byte[][] frames = request.stream().map(frame -> frame.getData()).toArray(byte[][]::new);
    if (frames.length != 3 || frames[2].length != Long.BYTES) {
      return;
    }
    long first = ByteBuffer.wrap(frames[2]).getLong();
    for (Sent sent : buffer) {
      if (Long.compareUnsigned(ByteBuffer.wrap(sent.sequence).getLong(), first) >= 0) {
        reply(frames[0], topic, sent.sequence, sent.payload);
      }
    }
    reply(frames[0], EMPTY, END, EMPTY);
  }

  private void reply(byte[] identity, byte[] head, byte[] number, byte[] payload) {
    replay.sendMore(identity);
    replay.sendMore(EMPTY);
    if (options.form() != WireForm.ARRAY) {
      replay.sendMore(head);
    }
    replay.sendMore(number);
    replay.send(payload);
  }
}
