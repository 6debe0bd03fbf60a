package dev.warmpath.eventingest.transport;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;
import zmq.Msg;
import zmq.io.Metadata;
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
   *
   * Once a frame is refused, so are all that follow it in its message. The allocator does not know on
   * which of the socket's connections a frame comes: that shows when it is complete and gets the
   * connection's metadata, which keep the verdict until the message ends. Frames of a protocol older
   * than ZMTP 3 get none, and are each judged alone.
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

  /** In the metadata of a connection while the message that arrives there is refused: why. */
  private static final String REFUSED = "Warmpath-Refused";

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
    byte[] verdict = verdict(size);
    if (verdict == ACCEPTED) {
      queued.addAndGet(size + FRAME_BYTES);
      return new Kept(size);
    }
    return new Refused(size, verdict);
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

  /**
   * What becomes of a frame that is complete, on its connection; its verdict alone so far.
   *
   * @return the verdict on its message
   */
  private static byte[] judge(Msg frame, byte[] verdict, Metadata connection) {
    String before = connection.get(REFUSED);
    byte[] message =
        before == null ? verdict : before.equals(name(TOO_LARGE)) ? TOO_LARGE : NO_ROOM;
    if (message == ACCEPTED) {
      return message;
    }
    if (frame.hasMore()) {
      connection.put(REFUSED, name(message));
    } else {
      connection.remove(REFUSED);
    }
    return message;
  }

  private static String name(byte[] why) {
    return why == TOO_LARGE ? "too large" : "no room";
  }

  /** A frame that is kept, unless one before it in its message was not. */
  private final class Kept extends Msg {

    private byte[] verdict = ACCEPTED;
    private boolean counted = true;

    Kept(int size) {
      super(size);
    }

    @Override
    public Msg setMetadata(@Nullable Metadata metadata) {
      if (metadata != null) {
        verdict = judge(this, verdict, metadata);
        if (isCommand()) {
          uncount(); // nobody will read it
        }
      }
      return super.setMetadata(metadata);
    }

    private void uncount() {
      if (counted) {
        counted = false;
        queued.updateAndGet(before -> Math.max(0, before - size() - FRAME_BYTES));
      }
    }

    @Override
    public boolean isCommand() {
      return (verdict != ACCEPTED && hasMore()) || super.isCommand();
    }

    @Override
    public byte[] data() {
      if (verdict == ACCEPTED) {
        return super.data();
      }
      uncount(); // its memory went with it
      return verdict;
    }
  }

  /** A frame that is not kept. */
  private final class Refused extends Msg {

    private byte[] why;
    private ByteBuffer memory;

    Refused(int size, byte[] why) {
      this.why = why;
      memory = passOver(size);
    }

    @Override
    public Msg setMetadata(@Nullable Metadata metadata) {
      if (metadata != null) {
        why = judge(this, why, metadata);
      }
      return super.setMetadata(metadata);
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
