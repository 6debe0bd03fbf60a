package dev.warmpath.router.picker;

import dev.warmpath.router.proxy.BodyRoom;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of gRPC over HTTP/2: messages behind heads of five bytes in both directions, then the
 * server's status as a trailer.
 *
 * <p>Confined to its event loop.
 *
 * @see <a href="https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md">gRPC over HTTP2</a>
 */
final class GrpcCall {

  /** How a call ends. */
  enum Status {
    OK(0),
    INVALID_ARGUMENT(3),
    NOT_FOUND(5),
    RESOURCE_EXHAUSTED(8),
    FAILED_PRECONDITION(9),
    UNIMPLEMENTED(12),
    INTERNAL(13),
    UNAVAILABLE(14);

    private final int code;

    Status(int code) {
      this.code = code;
    }
  }

  /** The server's side. Called on the event loop; what it throws ends the call. */
  interface Listener {

    void message(byte[] message) throws Wire.MalformedException;

    /** The client sends no more. */
    void halfClosed();

    /** There is room again for what is sent. */
    default void drained() {}

    /** The client has left, or the call failed before it was closed. Called at most once. */
    void gone();

    /** Whether messages that come now are kept, and need room. */
    default boolean isBounded() {
      return false;
    }

    /** There is no room for the message that comes; the call ends unless it is closed here. */
    default void noRoom() {}

    /** The client sent what is no message, or one that is too large. */
    default void malformed(String why) {}
  }

  private static final Logger LOG = LoggerFactory.getLogger(GrpcCall.class);
  private static final int HEAD_BYTES = 5;

  /** Messages up to here need no room: heads, and most pieces of answers. */
  private static final int SMALL_BYTES = 1 << 16;

  private static final byte[] NOTHING = {};

  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final int longestBytes;
  private final BodyRoom room;
  private final Listener listener;
  private final byte[] head = new byte[HEAD_BYTES];
  private int headCount;
  private byte[] message = NOTHING;
  private int count;

  /** Room that is taken for the message that comes. */
  private int takenBytes;

  private boolean paused;
  private boolean inputEnded;
  private boolean closed;
  private boolean gone;

  /**
   * @param longestBytes of one message
   * @param room for messages that have come in part
   */
  GrpcCall(HttpServerRequest request, int longestBytes, BodyRoom room, Listener listener) {
    this.request = request;
    this.response = request.response();
    this.longestBytes = longestBytes;
    this.room = room;
    this.listener = listener;
  }

  void begin() {
    response.putHeader("content-type", "application/grpc");
    response.exceptionHandler(guarded(e -> leave()));
    response.closeHandler(guarded(v -> leave()));
    request.exceptionHandler(guarded(e -> leave()));
    request.handler(guarded(this::received));
    request.endHandler(
        guarded(v -> {
          inputEnded = true;
          if (!closed && !gone) {
            listener.halfClosed();
          }
        }));
  }

  private <T> Handler<T> guarded(Handler<T> handler) {
    return event -> {
      try {
        handler.handle(event);
      } catch (RuntimeException | Error e) {
        LOG.error("a call failed, path={}", request.path(), e);
        close(Status.INTERNAL, "");
        leave();
      }
    };
  }

  private void leave() {
    giveRoom();
    if (!gone) {
      gone = true;
      listener.gone();
    }
  }

  private void received(Buffer chunk) {
    int at = 0;
    while (at < chunk.length() && !closed && !gone) {
      at += headCount < HEAD_BYTES ? readHead(chunk, at) : readMessage(chunk, at);
      if (headCount == HEAD_BYTES && count == message.length && !closed) {
        deliver();
      }
    }
  }

  private int readHead(Buffer chunk, int at) {
    int taken = Math.min(HEAD_BYTES - headCount, chunk.length() - at);
    chunk.getBytes(at, at + taken, head, headCount);
    headCount += taken;
    if (headCount == HEAD_BYTES) {
      beginMessage(Buffer.buffer(head).getUnsignedInt(1));
    }
    return taken;
  }

  private void beginMessage(long length) {
    if (head[0] != 0) {
      malformed(Status.UNIMPLEMENTED, "messages must not be compressed");
    } else if (length > longestBytes) {
      malformed(Status.RESOURCE_EXHAUSTED, "a message is longer than " + longestBytes + " bytes");
    } else if (length > SMALL_BYTES && listener.isBounded() && !room.take((int) length)) {
      listener.noRoom();
      malformed(Status.RESOURCE_EXHAUSTED, "other requests take all the room there is");
    } else {
      takenBytes = length > SMALL_BYTES && listener.isBounded() ? (int) length : 0;
      message = new byte[(int) length];
      count = 0;
    }
  }

  private int readMessage(Buffer chunk, int at) {
    int taken = Math.min(message.length - count, chunk.length() - at);
    chunk.getBytes(at, at + taken, message, count);
    count += taken;
    return taken;
  }

  private void deliver() {
    byte[] whole = message;
    message = NOTHING;
    count = 0;
    headCount = 0;
    giveRoom();
    try {
      listener.message(whole);
    } catch (Wire.MalformedException e) {
      malformed(Status.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
    }
  }

  private void giveRoom() {
    room.give(takenBytes);
    takenBytes = 0;
  }

  private void malformed(Status status, String why) {
    if (closed) {
      return;
    }
    listener.malformed(why);
    close(status, why);
    leave();
  }

  /** Sends a message; without effect when the call is over. */
  void send(byte[] bytes) {
    if (!closed && !gone) {
      Buffer framed = Buffer.buffer(HEAD_BYTES + bytes.length);
      framed.appendByte((byte) 0).appendInt(bytes.length).appendBytes(bytes);
      response.write(framed);
    }
  }

  /** Whether more is written than the client has room for. */
  boolean isFull() {
    return !closed && !gone && response.writeQueueFull();
  }

  /** Reads nothing more until the client has room, and the listener is told. */
  void awaitRoom() {
    if (!paused) {
      paused = true;
      if (!inputEnded) {
        request.pause();
      }
      response.drainHandler(
          guarded(v -> {
            resume();
            listener.drained();
          }));
    }
  }

  private void resume() {
    if (paused && !inputEnded) {
      request.resume();
    }
    paused = false;
  }

  boolean isOver() {
    return closed || gone;
  }

  /** Ends the call; the listener is not told. */
  void close(Status status, String why) {
    if (closed || gone) {
      return;
    }
    closed = true;
    giveRoom();
    response.putTrailer("grpc-status", Integer.toString(status.code));
    if (!why.isEmpty()) {
      String text = URLEncoder.encode(why, StandardCharsets.UTF_8).replace("+", "%20");
      response.putTrailer("grpc-message", text);
    }
    response.end();
    resume();
  }
}
