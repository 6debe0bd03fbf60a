package dev.warmpath.eventingest.transport;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * Asks an engine's replay socket for the batches that it still has.
 *
 * <p>Takes replies of two and of three frames. A replay is over at the end marker, when nothing
 * came for the idle timeout, or at one of its bounds: a peer that never ends keeps nobody busy for
 * ever.
 *
 * <p>Thread-safe; each replay has its own socket.
 */
public final class ReplayClient {

  private static final Logger LOG = LoggerFactory.getLogger(ReplayClient.class);
  private static final int POLL_MILLIS = 50;

  /** More than an engine keeps: beyond its own mark, its socket drops replies silently. */
  private static final int HIGH_WATER_MARK = 1 << 16;

  /** Of the largest message: who asks for a replay waits for it, and most fit as a whole. */
  private static final int QUEUED_MESSAGES = 4;

  private final ZContext context;
  private final ReplayLimits limits;
  private final long messageBytes;
  private final BooleanSupplier stopping;

  /**
   * @param messageBytes of the largest reply; four times as many may wait in a replay's socket
   * @param stopping ends all replays soon once it says so
   */
  public ReplayClient(
      ZContext context, ReplayLimits limits, long messageBytes, BooleanSupplier stopping) {
    this.context = context;
    this.limits = limits;
    this.messageBytes = messageBytes;
    this.stopping = stopping;
  }

  /**
   * Fetches all batches from {@code fromSequence} on.
   *
   * @return whether the engine sent the end marker
   */
  public boolean fetch(String endpoint, long fromSequence, ReplaySink sink) {
    ZMQ.Socket socket;
    try {
      socket = context.createSocket(SocketType.DEALER);
    } catch (RuntimeException e) {
      LOG.warn("endpoint={} cannot be asked for a replay: {}", endpoint, e.toString());
      return false;
    }
    try {
      FrameBudget budget = new FrameBudget(messageBytes, QUEUED_MESSAGES * messageBytes);
      socket.setHandshakeIvl(500);
      socket.setRcvHWM(HIGH_WATER_MARK);
      budget.bound(socket);
      socket.setLinger(0);
      socket.setReceiveTimeOut(POLL_MILLIS);
      if (!socket.connect(endpoint)) {
        return false;
      }
      socket.sendMore(new byte[0]);
      socket.send(StreamMessage.sequenceFrame(fromSequence));
      return receive(socket, budget, sink);
    } catch (ZMQException | IllegalArgumentException e) {
      return false;
    } finally {
      socket.close();
    }
  }

  private boolean receive(ZMQ.Socket socket, FrameBudget budget, ReplaySink sink) {
    long beganNanos = System.nanoTime();
    long heardNanos = beganNanos;
    long batchesLeft = limits.batches();
    long bytesLeft = limits.bytes();
    boolean nudged = false;
    while (!stopping.getAsBoolean() && batchesLeft > 0 && bytesLeft > 0) {
      List<byte[]> frames = reply(socket, budget);
      long now = System.nanoTime();
      boolean late = now - beganNanos > limits.longest().toNanos();
      if (late || (frames == null && now - heardNanos > limits.idleTimeout().toNanos())) {
        return false;
      }
      if (frames == null) {
        if (!nudged && heardNanos == beganNanos) {
          nudged = true;
          JeroMqConnectWorkaround.nudge(context);
        }
        continue;
      }
      heardNanos = now;
      batchesLeft--;
      byte[] last = frames.get(frames.size() - 1);
      if (FrameBudget.foundNoRoom(last)) {
        return false;
      }
      if (FrameBudget.isTooLarge(last)) {
        sink.problem(StreamCounter.OVERSIZED_MESSAGES);
      }
      sink.reply(frames);
      StreamMessage message = StreamMessage.ofReply(frames);
      if (message == null) {
        sink.problem(StreamCounter.BAD_MESSAGES);
      } else if (message.endsReplay()) {
        return true;
      } else if (!sink.batch(message)) {
        return false;
      } else {
        bytesLeft -= message.payload().length;
      }
    }
    return false;
  }

  /** The frames of one reply without the delimiter, or null if none came in time. */
  private static @Nullable List<byte[]> reply(ZMQ.Socket socket, FrameBudget budget) {
    Frames reply = Frames.receive(socket, 0);
    if (reply == null) {
      budget.drained();
      return null;
    }
    List<byte[]> frames = reply.all();
    budget.release(frames);
    if (frames.size() == 1 || frames.get(0).length > 0) {
      return frames;
    }
    return new ArrayList<>(frames.subList(1, frames.size()));
  }

  /**
   * Where a replay hands over what it hears; may block, which slows the replay down.
   *
   * <p>Implementations are called by the replay's thread only.
   */
  public interface ReplaySink {

    /** A batch came; returns whether more are wanted. */
    boolean batch(StreamMessage batch);

    /** A reply came, the end marker or whatever it is; its frames without the delimiter. */
    default void reply(List<byte[]> frames) {}

    /**
     * A reply was too large, or had a wrong shape and is gone. A large one that shows its number
     * comes next, without payload.
     */
    void problem(StreamCounter what);
  }
}
