package dev.warmpath.eventingest.zmq;

import dev.warmpath.eventingest.stream.StreamMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * Asks an engine's replay socket for the batches that it still has.
 *
 * <p>Takes replies of two and of three frames. A replay is over at the end marker, or when nothing
 * came for the idle timeout.
 *
 * <p>Thread-safe; each replay has its own socket.
 */
public final class ReplayClient {

  private static final int POLL_MILLIS = 50;

  private final ZContext context;
  private final Duration idleTimeout;
  private final BooleanSupplier stopping;

  /**
   * @param idleTimeout longest silence of the engine
   * @param stopping ends all replays soon once it says so
   */
  public ReplayClient(ZContext context, Duration idleTimeout, BooleanSupplier stopping) {
    this.context = context;
    this.idleTimeout = idleTimeout;
    this.stopping = stopping;
  }

  /**
   * Fetches all batches from {@code fromSequence} on.
   *
   * @return whether the engine sent the end marker
   */
  public boolean fetch(String endpoint, long fromSequence, ReplaySink sink) {
    ZMQ.Socket socket = context.createSocket(SocketType.DEALER);
    try {
      socket.setHandshakeIvl(500);
      socket.setHWM(0);
      socket.setLinger(0);
      socket.setReceiveTimeOut(POLL_MILLIS);
      if (!socket.connect(endpoint)) {
        return false;
      }
      socket.sendMore(new byte[0]);
      socket.send(StreamMessage.sequenceFrame(fromSequence));
      return receive(socket, sink);
    } catch (ZMQException | IllegalArgumentException e) {
      return false;
    } finally {
      socket.close();
    }
  }

  private boolean receive(ZMQ.Socket socket, ReplaySink sink) {
    long heardNanos = System.nanoTime();
    while (!stopping.getAsBoolean()) {
      List<byte[]> frames = reply(socket);
      if (frames == null) {
        if (System.nanoTime() - heardNanos > idleTimeout.toNanos()) {
          return false;
        }
        continue;
      }
      heardNanos = System.nanoTime();
      StreamMessage message = StreamMessage.ofReply(frames);
      if (message == null) {
        sink.badReply(frames.size());
      } else if (message.endsReplay()) {
        return true;
      } else if (!sink.batch(message)) {
        return false;
      }
    }
    return false;
  }

  /** The frames of one reply without the delimiter, or null if none came in time. */
  private static @Nullable List<byte[]> reply(ZMQ.Socket socket) {
    List<byte[]> frames = Frames.receive(socket, 0);
    if (frames == null || frames.isEmpty() || frames.get(0).length > 0) {
      return frames;
    }
    return new ArrayList<>(frames.subList(1, frames.size()));
  }
}
