package dev.warmpath.router.proxy;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.function.LongSupplier;

/**
 * The rest of a body whose request was refused: it is thrown away as long as it flows, for a client
 * that reads only after writing, up to twice the length of the longest body; then its stream ends,
 * with HTTP/1 its connection.
 *
 * <p>Confined to its event loop.
 */
final class UnreadBody {

  private static final long NO_ERROR = 0;
  private static final int LOOKS_A_TIMEOUT = 4;

  private final Vertx vertx;
  private final LongSupplier nanoClock;
  private final HttpServerRequest request;
  private final TimeLimit silence = new TimeLimit();
  private final long timer;
  private long leftBytes;

  private UnreadBody(
      Vertx vertx,
      LongSupplier nanoClock,
      HttpServerRequest request,
      int patienceMs,
      int longestBody) {
    this.vertx = vertx;
    this.nanoClock = nanoClock;
    this.request = request;
    this.leftBytes = 2L * longestBody; // one that is somewhat too long comes whole
    silence.start(patienceMs, nanoClock.getAsLong(), this::end);
    timer = vertx.setPeriodic(Math.max(1, patienceMs / LOOKS_A_TIMEOUT), id -> look());
  }

  /**
   * To be done before such a request is answered: a client that was to wait for 100 may leave its
   * body out, so that no one can tell what follows on the connection.
   */
  static void announce(HttpServerRequest request) {
    if (request.version() != HttpVersion.HTTP_2 && RequestHead.expectsContinue(request)) {
      request.response().putHeader("connection", "close");
    }
  }

  /**
   * Throws away what still comes.
   *
   * @param patienceMs longest silence
   * @param longestBody bytes of the longest that is taken
   */
  static void discard(
      Vertx vertx,
      LongSupplier nanoClock,
      HttpServerRequest request,
      int patienceMs,
      int longestBody) {
    if (!request.isEnded()) {
      UnreadBody rest = new UnreadBody(vertx, nanoClock, request, patienceMs, longestBody);
      request.handler(rest::chunk);
      request.endHandler(v -> rest.stop());
      request.exceptionHandler(e -> rest.stop());
    }
  }

  private void chunk(Buffer chunk) {
    leftBytes -= chunk.length();
    silence.flowed(chunk.length(), nanoClock.getAsLong());
    if (leftBytes < 0) {
      end();
    }
  }

  private void look() {
    if (silence.isOver(nanoClock.getAsLong())) {
      end();
    }
  }

  private void stop() {
    vertx.cancelTimer(timer);
  }

  private void end() {
    stop();
    if (request.version() == HttpVersion.HTTP_2) {
      request.response().reset(NO_ERROR);
    } else {
      request.connection().close();
    }
  }
}
