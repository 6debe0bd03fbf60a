package dev.warmpath.router.proxy;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.Arrays;
import java.util.Optional;

/**
 * Collects one request's body within its bound, and within the room that all bodies have.
 *
 * <p>Confined to its event loop.
 */
public final class RequestBody {

  private static final int FIRST_BYTES = 1 << 10;
  private static final byte[] EMPTY = new byte[0];

  /** What became of a chunk. */
  public enum Taken {
    TAKEN,
    TOO_LARGE,
    NO_ROOM
  }

  private final BodyRoom room;
  private final int limitBytes;
  private final long declaredBytes;
  private byte[] bytes = EMPTY;
  private int count;

  public RequestBody(BodyRoom room, int limitBytes, HttpServerRequest request) {
    this.room = room;
    this.limitBytes = limitBytes;
    this.declaredBytes = declaredBytes(request);
  }

  /** Its length as the client gives it, or 0. */
  private static long declaredBytes(HttpServerRequest request) {
    try {
      return Long.parseLong(Optional.ofNullable(request.getHeader("content-length")).orElse("0"));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  public boolean isDeclaredTooLarge() {
    return declaredBytes > limitBytes;
  }

  public Taken add(Buffer chunk) {
    int more = chunk.length();
    if (more > limitBytes - count) {
      return Taken.TOO_LARGE;
    }
    int needed = count + more;
    if (needed > bytes.length && !grow(roomFor(needed)) && !grow(needed)) {
      return Taken.NO_ROOM;
    }
    chunk.getBytes(bytes, count);
    count += more;
    return Taken.TAKEN;
  }

  /** The room is taken for what is allocated, not for what has come. */
  private boolean grow(int length) {
    boolean fits = room.take(length - bytes.length);
    if (fits) {
      bytes = Arrays.copyOf(bytes, length);
    }
    return fits;
  }

  /** Little is made room for on the strength of a promise. */
  private int roomFor(int needed) {
    long doubled = Math.max(FIRST_BYTES, 2L * bytes.length);
    long wanted = declaredBytes >= needed ? Math.min(declaredBytes, doubled) : doubled;
    return (int) Math.max(needed, Math.min(wanted, limitBytes));
  }

  /** All that was collected, not to be changed. */
  public byte[] whole() {
    if (count < bytes.length) {
      room.give(bytes.length - count);
      bytes = Arrays.copyOf(bytes, count);
    }
    return bytes;
  }

  /** Keeps nothing any more, and gives its room back. */
  public void drop() {
    room.give(bytes.length);
    count = 0;
    bytes = EMPTY;
  }
}
