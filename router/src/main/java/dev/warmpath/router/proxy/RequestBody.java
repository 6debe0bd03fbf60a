package dev.warmpath.router.proxy;

import io.vertx.core.buffer.Buffer;
import java.util.Arrays;

/**
 * Collects one request's body within its bound, and within the room that all bodies have.
 *
 * <p>Confined to its event loop.
 */
final class RequestBody {

  private static final int FIRST_BYTES = 1 << 14;
  private static final byte[] EMPTY = new byte[0];

  /** What became of a chunk. */
  enum Taken {
    TAKEN,
    TOO_LARGE,
    NO_ROOM
  }

  private final BodyRoom room;
  private final int limitBytes;
  private final long declaredBytes;
  private byte[] bytes = EMPTY;
  private int count;

  /**
   * @param declaredBytes its length as the client told, or anything less
   */
  RequestBody(BodyRoom room, int limitBytes, long declaredBytes) {
    this.room = room;
    this.limitBytes = limitBytes;
    this.declaredBytes = declaredBytes;
  }

  boolean isDeclaredTooLarge() {
    return declaredBytes > limitBytes;
  }

  Taken add(Buffer chunk) {
    int more = chunk.length();
    if (more > limitBytes - count) {
      return Taken.TOO_LARGE;
    }
    if (!room.take(more)) {
      return Taken.NO_ROOM;
    }
    if (count + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, roomFor(count + more));
    }
    chunk.getBytes(bytes, count);
    count += more;
    return Taken.TAKEN;
  }

  /** Little is made room for on the strength of a promise. */
  private int roomFor(int needed) {
    long doubled = Math.max(FIRST_BYTES, 2L * bytes.length);
    long wanted = declaredBytes >= needed ? Math.min(declaredBytes, doubled) : doubled;
    return (int) Math.max(needed, Math.min(wanted, limitBytes));
  }

  /** All that was collected, not to be changed. */
  byte[] whole() {
    if (count < bytes.length) {
      bytes = Arrays.copyOf(bytes, count);
    }
    return bytes;
  }

  /** Keeps nothing any more, and gives its room back. */
  void drop() {
    room.give(count);
    count = 0;
    bytes = EMPTY;
  }
}
