package dev.warmpath.eventingest;

import dev.warmpath.eventingest.wire.StreamMessage;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** The sockets of a {@link TestEngine}: PUB for the test's thread, ROUTER on its own. */
public final class TestPublisher implements AutoCloseable {

  private static final byte[] TOPIC = "kv@test".getBytes(StandardCharsets.US_ASCII);

  private final ZContext context = new ZContext();
  private final ZMQ.Socket live;
  private final String endpoint;
  private final String replayEndpoint;
  private final int replyFrames;
  private final List<byte[]> replayable = new CopyOnWriteArrayList<>();
  private final AtomicInteger replays = new AtomicInteger();
  private final Thread replayThread;
  private volatile boolean closed;
  private volatile boolean silent;
  private volatile boolean holding;
  private volatile int hiddenBelow;

  /**
   * @param endpoint where to bind, {@code tcp://127.0.0.1:*} for a free port
   * @param replyFrames 2 or 3, or 0 for an engine that does not answer replays
   */
  public TestPublisher(String endpoint, String replayEndpoint, int replyFrames) {
    this(endpoint, false, replayEndpoint, replyFrames);
  }

  private TestPublisher(String endpoint, boolean connects, String replayEndpoint, int replyFrames) {
    this.replyFrames = replyFrames;
    live = context.createSocket(SocketType.PUB);
    live.setHandshakeIvl(500);
    live.setHWM(0);
    live.setLinger(0);
    if (connects) {
      live.connect(endpoint);
    } else {
      live.bind(endpoint);
    }
    this.endpoint = live.getLastEndpoint();
    ZMQ.Socket router = context.createSocket(SocketType.ROUTER);
    router.setHandshakeIvl(500);
    router.setHWM(0);
    router.setLinger(0);
    router.setReceiveTimeOut(20);
    router.bind(replayEndpoint);
    this.replayEndpoint = router.getLastEndpoint();
    replayThread = new Thread(() -> serve(router), "test-replay");
    replayThread.start();
  }

  public TestPublisher(int replyFrames) {
    this("tcp://127.0.0.1:*", "tcp://127.0.0.1:*", replyFrames);
  }

  /** An engine that connects its stream, and has no replay socket to speak of. */
  public static TestPublisher connecting(String endpoint) {
    return new TestPublisher(endpoint, true, "tcp://127.0.0.1:*", 0);
  }

  public String endpoint() {
    return endpoint;
  }

  public String replayEndpoint() {
    return replayEndpoint;
  }

  /** Questions answered so far. */
  public int replays() {
    return replays.get();
  }

  /** Keeps a batch for replay without sending it. */
  public void keep(byte[] payload) {
    replayable.add(payload);
  }

  /** Sends a batch and keeps it for replay. */
  public void publish(byte[] payload) {
    keep(payload);
    send(replayable.size() - 1, payload);
  }

  /** Sends a batch. */
  public void send(long sequence, byte[] payload) {
    send(TOPIC, StreamMessage.sequenceFrame(sequence), payload);
  }

  /** Sends whatever frames. */
  public void send(byte[]... frames) {
    for (int i = 0; i < frames.length; i++) {
      live.send(frames[i], i + 1 < frames.length ? ZMQ.SNDMORE : 0);
    }
  }

  /** The replay buffer begins here. */
  public void forgetBelow(int sequence) {
    hiddenBelow = sequence;
  }

  /** Questions wait for their answers, until this is taken back. */
  public void holdAnswers(boolean hold) {
    silent = hold;
  }

  /** Whether a question waits for its answer. */
  public boolean holdsAnAnswer() {
    return holding;
  }

  private void serve(ZMQ.Socket router) {
    while (!closed) {
      byte[] peer = router.recv();
      if (peer == null) {
        continue;
      }
      router.recv();
      long from = new java.math.BigInteger(1, router.recv()).longValue();
      if (replyFrames == 0) {
        continue;
      }
      while (silent && !closed) {
        holding = true;
        LockSupport.parkNanos(1_000_000);
      }
      holding = false;
      for (int i = (int) Math.max(from, hiddenBelow); i < replayable.size(); i++) {
        reply(router, peer, StreamMessage.sequenceFrame(i), replayable.get(i));
      }
      reply(router, peer, StreamMessage.sequenceFrame(-1), new byte[0]);
      replays.incrementAndGet();
    }
    router.close();
  }

  private void reply(ZMQ.Socket router, byte[] peer, byte[] sequence, byte[] payload) {
    router.sendMore(peer);
    router.sendMore(new byte[0]);
    if (replyFrames == 3) {
      router.sendMore(payload.length == 0 ? new byte[0] : TOPIC);
    }
    router.sendMore(sequence);
    router.send(payload);
  }

  @Override
  public void close() {
    closed = true;
    try {
      replayThread.join(5_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    live.close();
    context.close();
  }
}
