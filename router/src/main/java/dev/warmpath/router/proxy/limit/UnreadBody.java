package dev.warmpath.router.proxy.limit;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;

/**
 * The rest of a body whose request was refused: it is thrown away for a while, for a client that
 * reads only after writing; then its stream ends, with HTTP/1 its connection.
 */
public final class UnreadBody {

  private static final long NO_ERROR = 0;

  private UnreadBody() {}

  public static void discard(Vertx vertx, HttpServerRequest request, int patienceMs) {
    if (!request.isEnded()) {
      long closing = vertx.setTimer(patienceMs, id -> end(request));
      request.endHandler(v -> vertx.cancelTimer(closing));
      request.exceptionHandler(e -> vertx.cancelTimer(closing));
    }
  }

  private static void end(HttpServerRequest request) {
    if (request.version() == HttpVersion.HTTP_2) {
      request.response().reset(NO_ERROR);
    } else {
      request.connection().close();
    }
  }
}
