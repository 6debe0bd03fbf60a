package dev.warmpath.eventingest.capture.live;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.session.StreamMessage;
import java.util.ArrayList;
import java.util.List;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * One question to a replay socket, for everything that it has, and the frames of its answer.
 *
 * <p>The answer is complete at the end marker, after a silence, or when it is as large as a record
 * may be.
 *
 * <p>Confined to its recorder's thread.
 */
final class RecordedReplay {

  /** Subscriptions take effect late; what is published before is in the answer then. */
  private static final double ASK_AFTER_SECONDS = 0.5;

  private static final double SILENCE_SECONDS = 3;

  /** Half of what a reader takes as one record. */
  private static final long MAX_BYTES = 128L << 20;

  private final ZMQ.Poller poller;
  private final ZMQ.Socket socket;
  private final List<List<byte[]>> replies = new ArrayList<>();
  private boolean asked;
  private boolean complete;
  private double heardSeconds;
  private long bytes;

  RecordedReplay(String endpoint, ZContext context, ZMQ.Poller poller) {
    this.poller = poller;
    socket = Sockets.open(context, SocketType.DEALER);
    socket.connect(endpoint);
    poller.register(socket, ZMQ.Poller.POLLIN);
  }

  /** Takes what has come; returns whether the answer is complete. */
  boolean follow(double nowSeconds) {
    if (!asked && nowSeconds >= ASK_AFTER_SECONDS) {
      asked = true;
      heardSeconds = nowSeconds;
      socket.sendMore(new byte[0]);
      socket.send(StreamMessage.sequenceFrame(0));
    }
    List<byte[]> frames = complete ? List.of() : Sockets.receive(socket);
    while (!frames.isEmpty()) {
      heardSeconds = nowSeconds;
      add(frames);
      frames = complete ? List.of() : Sockets.receive(socket);
    }
    complete |= asked && nowSeconds - heardSeconds > SILENCE_SECONDS;
    return complete;
  }

  /** The answer as a record. */
  CaptureRecord.Replay record(double nowSeconds, int stream) {
    return new CaptureRecord.Replay(nowSeconds, stream, 0, List.copyOf(replies));
  }

  void close() {
    poller.unregister(socket);
    socket.close();
  }

  private void add(List<byte[]> framesWithDelimiter) {
    boolean delimited = framesWithDelimiter.get(0).length == 0;
    List<byte[]> frames =
        framesWithDelimiter.subList(delimited ? 1 : 0, framesWithDelimiter.size());
    replies.add(frames);
    frames.forEach(frame -> bytes += frame.length);
    StreamMessage reply = StreamMessage.ofReply(frames);
    complete = bytes > MAX_BYTES || (reply != null && reply.endsReplay());
  }
}
