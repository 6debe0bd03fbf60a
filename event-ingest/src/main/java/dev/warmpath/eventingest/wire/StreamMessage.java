package dev.warmpath.eventingest.wire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One batch as it travels: its sequence number and its payload, undecoded.
 *
 * <p>Immutable, as long as nobody writes to the payload.
 *
 * @param sequence unsigned on the wire, but no engine gets to 2<sup>63</sup> − 1, the last one that
 *     has no next
 * @param arrivedNanos {@link System#nanoTime} of its arrival on the live connection, or {@link
 *     #UNTIMED}
 */
@SuppressWarnings("ArrayRecordComponent") // the hot path; equality is never asked for
public record StreamMessage(long sequence, byte[] payload, long arrivedNanos) {

  /** The arrival of a batch that was not heard live, or by a clock that nobody reads. */
  public static final long UNTIMED = Long.MIN_VALUE;

  private static final long END_SEQUENCE = -1;

  /** A batch that nobody timed. */
  public StreamMessage(long sequence, byte[] payload) {
    this(sequence, payload, UNTIMED);
  }

  /**
   * The message in the frames {@code [topic, sequence, payload]}, heard live at this {@link
   * System#nanoTime}, or null if they are no such.
   */
  public static @Nullable StreamMessage ofLive(List<byte[]> frames, long arrivedNanos) {
    return frames.size() == 3 ? of(frames.get(1), frames.get(2), arrivedNanos) : null;
  }

  /**
   * The message in one reply of a replay socket, without its delimiter: {@code [sequence, payload]}
   * or {@code [topic, sequence, payload]}; null if the frames are no such.
   */
  public static @Nullable StreamMessage ofReply(List<byte[]> frames) {
    int count = frames.size();
    if (count != 2 && count != 3) {
      return null;
    }
    return of(frames.get(count - 2), frames.get(count - 1), UNTIMED);
  }

  /** Whether this reply says that no more follow. */
  public boolean endsReplay() {
    return sequence == END_SEQUENCE;
  }

  /** A sequence number as it is sent: 8 bytes, big-endian. */
  public static byte[] sequenceFrame(long sequence) {
    byte[] frame = new byte[Long.BYTES];
    for (int i = 0; i < Long.BYTES; i++) {
      frame[i] = (byte) (sequence >>> (56 - 8 * i));
    }
    return frame;
  }

  private static @Nullable StreamMessage of(byte[] sequence, byte[] payload, long arrivedNanos) {
    if (sequence.length != Long.BYTES) {
      return null;
    }
    long value = 0;
    for (byte b : sequence) {
      value = value << 8 | (b & 0xff);
    }
    boolean counts = value >= 0 && value < Long.MAX_VALUE;
    return counts || value == END_SEQUENCE ? new StreamMessage(value, payload, arrivedNanos) : null;
  }
}
