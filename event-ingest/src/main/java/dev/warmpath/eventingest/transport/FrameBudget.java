package dev.warmpath.eventingest.transport;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.zeromq.ZMQ;
import zmq.Msg;
import zmq.msg.MsgAllocator;

/**
 * Bounds the bytes that one socket keeps: allocates the frames that it receives, and passes over
 * those that are too large or find no room.
 *
 * <p>A message that is passed over still arrives, with an empty frame in place of its last one,
 * which {@link #isTooLarge} or {@link #foundNoRoom} knows; the sockets' thread reads its bytes into
 * memory that all such messages share. Beyond {@value #PASSED_OVER} times the largest message
 * JeroMQ ends the connection.
 *
 * <p>Thread-safe: the sockets' thread allocates, the reader of the socket releases.
 */
@SuppressWarnings("ReferenceEquality") // empty frames are told by their identity
final class FrameBudget implements MsgAllocator {

  /*
   * JeroMQ's own bounds do not hold bytes: its mark counts messages, a message of many frames counts
   * when it is complete, and a frame's memory is taken when its length is declared. But it leaves the
   * making of a frame to an allocator, drops frames that are commands as they come, and asks a frame
   * for the memory to fill. So a refused frame lends shared memory to be filled, says that it is a
   * command if more frames follow, and else goes the way of all frames, empty.
   */

  private static final byte[] TOO_LARGE = new byte[0];

  private static final byte[] NO_ROOM = new byte[0];

  private static final int PASSED_OVER = 8;

  /** What the objects around a frame take. */
  private static final int FRAME_BYTES = 128;

  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);
  private static final byte[] ACCEPTED = new byte[0];

  private final long messageBytes;
  private final long queueBytes;
  private final AtomicLong queued = new AtomicLong();

  /** Why the frames of the message that arrives now are refused; the sockets' thread's. */
  private byte[] verdict = ACCEPTED;

  private WeakReference<byte[]> shared = new WeakReference<>(new byte[0]);

  /**
   * @param messageBytes of the largest frame that is kept
   * @param queueBytes that may wait for their reader; a frame under way and the objects around
   *     frames count
   */
  FrameBudget(long messageBytes, long queueBytes) {
    this.messageBytes = messageBytes;
    this.queueBytes = queueBytes;
  }

  /** Whether it stands in place of a frame that was larger than a message may be. */
  static boolean isTooLarge(byte[] frame) {
    return frame == TOO_LARGE;
  }

  /** Whether it stands in place of a frame that found no room; it can be asked for again. */
  static boolean foundNoRoom(byte[] frame) {
    return frame == NO_ROOM;
  }

  /** Has a socket receive within this budget; before it connects or binds. */
  void bound(ZMQ.Socket socket) {
    socket.setMsgAllocator(this);
    socket.setMaxMsgSize(largestBytes());
  }

  /** Bytes that wait, a frame under way included. */
  long queuedBytes() {
    return queued.get();
  }

  /** The frames of a message are with their reader. */
  void release(List<byte[]> frames) {
    long bytes = 0;
    for (byte[] frame : frames) {
      bytes += isTooLarge(frame) || foundNoRoom(frame) ? 0 : frame.length + FRAME_BYTES;
    }
    long released = bytes;
    queued.updateAndGet(before -> Math.max(0, before - released));
  }

  /** Nothing waits: what a connection that broke took with it is forgotten. */
  void drained() {
    queued.set(0);
  }

  @Override
  public Msg allocate(int size) {
    if (verdict == ACCEPTED) {
      verdict = verdict(size);
    }
    byte[] why = verdict;
    if (why == ACCEPTED) {
      queued.addAndGet(size + FRAME_BYTES);
      return new Msg(size);
    }
    verdict = ACCEPTED; // unless more frames follow
    return new Refused(size, why);
  }

  /** A length below 0 was declared as one beyond 2<sup>63</sup>. */
  private byte[] verdict(int size) {
    if (size < 0 || size > messageBytes) {
      return TOO_LARGE;
    }
    return queued.get() + size + FRAME_BYTES > queueBytes ? NO_ROOM : ACCEPTED;
  }

  private long largestBytes() {
    return Math.min(PASSED_OVER * messageBytes, Integer.MAX_VALUE - Long.BYTES);
  }

  /** Memory for bytes that nobody will read; none for a length that no connection survives. */
  private ByteBuffer passOver(int size) {
    if (size <= 0 || size > largestBytes()) {
      return EMPTY.duplicate();
    }
    byte[] memory = shared.get();
    if (memory == null || memory.length < size) {
      memory = new byte[size];
      shared = new WeakReference<>(memory);
    }
    return ByteBuffer.wrap(memory, 0, size).slice();
  }

  /** A frame that is not kept. */
  private final class Refused extends Msg {

    private final byte[] why;
    private ByteBuffer memory;

    Refused(int size, byte[] why) {
      this.why = why;
      memory = passOver(size);
    }

    @Override
    public void setFlags(int flags) {
      super.setFlags(flags);
      if (hasMore()) {
        verdict = why;
      }
    }

    @Override
    public boolean isCommand() {
      return hasMore() || super.isCommand();
    }

    /** Asked for once, to be filled. */
    @Override
    public ByteBuffer buf() {
      ByteBuffer lent = memory;
      memory = EMPTY.duplicate();
      return lent;
    }

    @Override
    public byte[] data() {
      return why;
    }
  }
}
