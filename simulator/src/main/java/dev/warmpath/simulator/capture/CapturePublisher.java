package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.simulator.capture.RecordedEngine.ReplayBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZFrame;
import org.zeromq.ZMQ;
import org.zeromq.ZMsg;

/**
 * Publishes a recorded stream as its engine did: three frames a message, the same numbers, the same
 * pace or another; and answers replays from what was published, and from the replays that the
 * capture holds.
 *
 * <p>Confined to the thread that uses it.
 */
public final class CapturePublisher implements AutoCloseable {

  /** How many batches can be asked again, as many as in engines by default. */
  public static final int REPLAY_BATCHES = 10_000;

  private static final StreamMessage END_OF_REPLAY = new StreamMessage(-1, new byte[0]);
  private static final long LONGEST_POLL_MILLIS = 50;
  private static final int HANDSHAKE_MILLIS = 500;
  private static final int LINGER_MILLIS = 1_000;

  private final ZMQ.Socket live;
  private final ZMQ.@Nullable Socket replay;
  private final ZMQ.Poller poller;
  private final LongSupplier nanoClock;
  private final ReplayBuffer buffer = new ReplayBuffer(REPLAY_BATCHES);
  private int subscribers;

  /**
   * Binds the sockets.
   *
   * @param endpoint of the live stream
   * @param replayEndpoint of the replay socket, or null for none
   * @param nanoClock a monotonic clock
   */
  public CapturePublisher(
      ZContext context, String endpoint, @Nullable String replayEndpoint, LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    poller = context.createPoller(2);
    live = open(context, SocketType.XPUB);
    live.setXpubVerbose(true); // tells of every subscriber, not of the first with a topic alone
    bind(live, endpoint);
    if (replayEndpoint == null) {
      replay = null;
    } else {
      replay = open(context, SocketType.ROUTER);
      bind(replay, replayEndpoint);
    }
  }

  /** The live stream's endpoint, with its port. */
  public String endpoint() {
    return live.getLastEndpoint();
  }

  /** The replay socket's endpoint, with its port; null if there is none. */
  public @Nullable String replayEndpoint() {
    return replay == null ? null : replay.getLastEndpoint();
  }

  /** Serves until {@code done} says so, which is asked several times a second. */
  public void serve(BooleanSupplier done) {
    while (!done.getAsBoolean()) {
      poll(LONGEST_POLL_MILLIS);
    }
  }

  /** How many subscriptions there are. */
  public int subscribers() {
    return subscribers;
  }

  /**
   * Publishes the messages of one stream of a capture.
   *
   * @param speed how many times faster than recorded; 0 for as fast as possible
   * @param feed what goes wrong on the way; replays bring what was published whatever became of it
   * @return how many messages were published, those that were lost on the way too
   */
  public long publish(CaptureReader capture, int stream, double speed, FaultyFeed feed)
      throws IOException {
    long startNanos = nanoClock.getAsLong();
    double startSeconds = Double.NaN;
    long published = 0;
    CaptureRecord record = capture.next();
    while (record != null) {
      if (record.stream() == stream && record instanceof CaptureRecord.Events events) {
        startSeconds = published == 0 ? events.timeSeconds() : startSeconds;
        double after = speed == 0 ? 0 : (events.timeSeconds() - startSeconds) / speed;
        awaitNanos(startNanos + (long) (after * 1e9) + feed.delayNanos());
        publish(feed.numbered(events), feed);
        published++;
      } else if (record.stream() == stream && record instanceof CaptureRecord.Replay recorded) {
        remember(recorded);
      }
      record = capture.next();
    }
    feed.remaining().forEach(this::send);
    return published;
  }

  @Override
  public void close() {
    poller.close();
    live.close();
    if (replay != null) {
      replay.close();
    }
  }

  private static ZMQ.Socket open(ZContext context, SocketType type) {
    ZMQ.Socket socket = context.createSocket(type);
    socket.setHandshakeIvl(HANDSHAKE_MILLIS);
    socket.setHWM(0);
    socket.setLinger(LINGER_MILLIS);
    return socket;
  }

  private void bind(ZMQ.Socket socket, String endpoint) {
    socket.bind(endpoint);
    poller.register(socket, ZMQ.Poller.POLLIN);
  }

  private void publish(CaptureRecord.Events events, FaultyFeed feed) {
    buffer.published(new StreamMessage(events.sequence(), events.payload()));
    feed.arriving(events).forEach(this::send);
  }

  private void send(CaptureRecord.Events message) {
    live.sendMore(message.topic());
    live.sendMore(StreamMessage.sequenceFrame(message.sequence()));
    live.send(message.payload());
  }

  private void remember(CaptureRecord.Replay recorded) {
    for (List<byte[]> frames : recorded.replies()) {
      StreamMessage batch = StreamMessage.ofReply(frames);
      if (batch != null && !batch.endsReplay()) {
        buffer.add(batch);
      }
    }
  }

  /** Serves until a time of the clock, and once at least. */
  private void awaitNanos(long untilNanos) {
    long leftNanos = untilNanos - nanoClock.getAsLong();
    poll(0);
    while (leftNanos > 0) {
      poll(Math.min(TimeUnit.NANOSECONDS.toMillis(leftNanos) + 1, LONGEST_POLL_MILLIS));
      leftNanos = untilNanos - nanoClock.getAsLong();
    }
  }

  private void poll(long millis) {
    poller.poll(millis);
    countSubscribers();
    if (replay != null) {
      answerReplays(replay);
    }
  }

  /** A subscription is a message of a 1 and its topic, its end a 0 and its topic. */
  private void countSubscribers() {
    byte[] message = live.recv(ZMQ.DONTWAIT);
    while (message != null) {
      if (message.length > 0) {
        subscribers += message[0] == 1 ? 1 : -1;
      }
      message = live.recv(ZMQ.DONTWAIT);
    }
  }

  /** A question is [asker, empty, number of 8 bytes]; others get no answer. */
  private void answerReplays(ZMQ.Socket socket) {
    List<byte[]> question = receive(socket);
    while (!question.isEmpty()) {
      if (question.size() == 3 && question.get(2).length == Long.BYTES) {
        long from = ByteBuffer.wrap(question.get(2)).getLong();
        for (StreamMessage batch : buffer.from(from)) {
          reply(socket, question.get(0), batch);
        }
        reply(socket, question.get(0), END_OF_REPLAY);
      }
      question = receive(socket);
    }
  }

  /** The frames of the message that has come, or none. */
  private static List<byte[]> receive(ZMQ.Socket socket) {
    ZMsg message = ZMsg.recvMsg(socket, ZMQ.DONTWAIT);
    return message == null ? List.of() : message.stream().map(ZFrame::getData).toList();
  }

  private static void reply(ZMQ.Socket socket, byte[] asker, StreamMessage batch) {
    socket.sendMore(asker);
    socket.sendMore(new byte[0]);
    socket.sendMore(new byte[0]);
    socket.sendMore(StreamMessage.sequenceFrame(batch.sequence()));
    socket.send(batch.payload());
  }
}
