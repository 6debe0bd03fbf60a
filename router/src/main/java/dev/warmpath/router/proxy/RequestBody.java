package dev.warmpath.router.proxy;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Collects one request's body within its bound, and within the room that all bodies have.
 *
 * <p>Confined to its event loop.
 */
public final class RequestBody {

  private static final int FIRST_BYTES = 1 << 10;
  private static final int PIECE_BYTES = 1 << 16;
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

  /** Room that is taken for copies. */
  private int copiesBytes;

  /** Read by a thread that decodes it. */
  private volatile boolean dropped;

  public RequestBody(BodyRoom room, int limitBytes, HttpServerRequest request) {
    this(room, limitBytes, declaredBytes(request.getHeader("content-length")));
  }

  /**
   * @param declaredBytes its length as the client gives it, or 0
   */
  public RequestBody(BodyRoom room, int limitBytes, long declaredBytes) {
    this.room = room;
    this.limitBytes = limitBytes;
    this.declaredBytes = declaredBytes;
  }

  /** What the header {@code Content-Length} says; 0 if there is none, or no number. */
  public static long declaredBytes(@Nullable String contentLength) {
    try {
      return contentLength == null ? 0 : Long.parseLong(contentLength);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  public boolean isDeclaredTooLarge() {
    return declaredBytes > limitBytes;
  }

  public Taken add(Buffer chunk) {
    int more = chunk.length();
    Taken taken = makeRoom(more);
    if (taken == Taken.TAKEN) {
      chunk.getBytes(bytes, count);
      count += more;
    }
    return taken;
  }

  private Taken makeRoom(int more) {
    if (more > limitBytes - count) {
      return Taken.TOO_LARGE;
    }
    int needed = count + more;
    boolean fits = needed <= bytes.length || grow(roomFor(needed)) || grow(needed);
    return fits ? Taken.TAKEN : Taken.NO_ROOM;
  }

  /** How decoding a body ended. */
  record Decoded(Taken taken, RequestBody body) {}

  /**
   * What {@code whole} stands for in {@code coding}, within the same bounds; nothing is kept of it
   * unless all is taken. It takes time, and belongs on no event loop; it ends soon when {@code as},
   * which has the bounds, is dropped.
   *
   * @throws IOException if it is damaged or ends early
   */
  static Decoded decode(ContentCoding coding, byte[] whole, RequestBody as) throws IOException {
    RequestBody decoded = new RequestBody(as.room, as.limitBytes, 0);
    boolean isKept = false;
    try (InputStream plain = coding.decode(new ByteArrayInputStream(whole))) {
      byte[] piece = new byte[PIECE_BYTES];
      Taken taken = Taken.TAKEN;
      for (int n = plain.read(piece);
          n >= 0 && taken == Taken.TAKEN && !as.dropped;
          n = plain.read(piece)) {
        taken = decoded.add(piece, n);
      }
      isKept = taken == Taken.TAKEN && !as.dropped;
      return new Decoded(taken, decoded);
    } finally {
      if (!isKept) {
        decoded.drop();
      }
    }
  }

  private Taken add(byte[] piece, int length) {
    Taken taken = makeRoom(length);
    if (taken == Taken.TAKEN) {
      System.arraycopy(piece, 0, bytes, count, length);
      count += length;
    }
    return taken;
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

  /**
   * Takes room for the copies that two engines are sent, until it is dropped; without effect the
   * second time.
   *
   * @return whether there is room for them
   */
  public boolean takeRoomForTwo() {
    if (copiesBytes == 0 && count < Integer.MAX_VALUE / 2 && room.take(2 * count)) {
      copiesBytes = 2 * count;
    }
    return copiesBytes > 0;
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Becomes what it was decoded to. */
  void become(RequestBody decoded) {
    drop();
    bytes = decoded.bytes;
    count = decoded.count;
    dropped = false;
  }

  /**
   * Becomes other bytes.
   *
   * @return false if there is no room for them
   */
  boolean become(byte[] other) {
    int more = other.length - bytes.length;
    if (more > 0 && !room.take(more)) {
      return false;
    }
    room.give(Math.max(0, -more));
    bytes = other;
    count = other.length;
    return true;
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
    dropped = true;
    room.give(bytes.length + copiesBytes);
    copiesBytes = 0;
    count = 0;
    bytes = EMPTY;
  }
}
