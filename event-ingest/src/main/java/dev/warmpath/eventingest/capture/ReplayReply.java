package dev.warmpath.eventingest.capture;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One reply of a replay socket: a batch with its number, or the marker behind the last one.
 *
 * <p>Immutable, as long as nobody writes to the array.
 *
 * @param sequence unsigned; {@link #END} for the marker
 * @param payload empty for the marker
 */
@SuppressWarnings("ArrayRecordComponent") // a payload is decoded, never compared
public record ReplayReply(long sequence, byte[] payload) {

  /** The number of the marker behind the last reply. */
  public static final long END = -1;

  /**
   * Reads the frames after the empty delimiter: [topic, sequence, payload], or without the topic as
   * vLLM sent them to 0.22. Null when they are neither.
   */
  public static @Nullable ReplayReply of(List<byte[]> frames) {
    int first = frames.size() - 2;
    if (first < 0 || first > 1 || frames.get(first).length != Long.BYTES) {
      return null;
    }
    return new ReplayReply(ByteBuffer.wrap(frames.get(first)).getLong(), frames.get(first + 1));
  }

  public boolean isEnd() {
    return sequence == END && payload.length == 0;
  }
}
