package dev.warmpath.router.proxy;

import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchResult;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.dispatch.RoutingHints;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.logs.Decision;
import dev.warmpath.router.upstream.Upstream;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.UpgradeRejectedException;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketBase;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketConnectOptions;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A client's WebSocket and one of a replica, joined: frames go both ways as they come, and a side
 * that reads slowly stops the other. It is one request in flight from its beginning to its end.
 * Extensions and subprotocols are not passed on: engines have none, and clients put keys there.
 *
 * <p>Confined to its event loop.
 */
final class Tunnel {

  /** The largest frame of either side. */
  static final int FRAME_BYTES = 1 << 20;

  private static final int SWITCHING = 101;
  private static final int BODY_TIMEOUT = 408;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final short GOING_AWAY = 1001;
  private static final short TRY_AGAIN = 1013;
  private static final int FIRST_CODE = 1000;
  private static final Set<Short> NEVER_SENT = Set.of((short) 1004, (short) 1005, (short) 1006);

  private final ProxyContext proxy;
  private final Exchange.Loop loop;
  private final WebSocketClient client;
  private final HttpServerRequest request;
  private final String uri;
  private final RequestQuota quota;
  private final List<String> models;
  private final String requestId;
  private final long startNanos;
  private final Runnable onEnd;

  /** The replica's time to answer; only the connection's end shows that it is over. */
  private final TimeLimit answering = new TimeLimit();

  private boolean over;
  private long timer = -1;
  private @Nullable Assignment assignment;
  private @Nullable ServerWebSocket down;
  private @Nullable WebSocket up;

  Tunnel(
      ProxyContext proxy,
      Exchange.Loop loop,
      WebSocketClient client,
      Exchange.Arrival arrival,
      Runnable onEnd) {
    this.proxy = proxy;
    this.loop = loop;
    this.client = client;
    this.request = arrival.request();
    this.uri = arrival.head().uri();
    this.quota = new RequestQuota(arrival.client(), proxy.nanoClock());
    this.models =
        request.params(true).getAll("model").stream()
            .map(proxy.prompts().reader()::modelOf)
            .toList();
    this.requestId = loop.requestId(request);
    this.startNanos = proxy.nanoClock().getAsLong();
    this.onEnd = onEnd;
  }

  /** Whether the request begins a WebSocket. */
  static boolean isAskedFor(HttpServerRequest request) {
    return request.version() == HttpVersion.HTTP_1_1
        && request.headers().contains(HttpHeaders.UPGRADE, HttpHeaders.WEBSOCKET, true);
  }

  /** Chooses a replica by load and connects to it before the client's request is accepted. */
  void start() {
    request.pause(); // it can be accepted later only if its end was not seen
    request.exceptionHandler(
        e -> end(Outcome.CANCELLED, ResponseEnd.CLIENT_GONE, Exchange.CLIENT_GONE_STATUS));
    RoutingHints hints =
        RoutingHeaders.of(proxy.config(), proxy.rules(), request.headers(), quota.client());
    PreparedRequest asked =
        new PreparedRequest(
            model(), Prompt.of(null), hints.session(), false, 0, hints.priority(), hints.client());
    ApiError refusal = quota.refusal(asked, () -> models);
    if (refusal != null) {
      refuse(refusal, null);
      return;
    }
    DispatchResult result = proxy.dispatcher().assign(asked, Set.of());
    if (result instanceof Assignment given) {
      assignment = given;
      connect(given.replica());
    } else {
      refuse(ApiError.unavailable("no_replica", "No replica can take the connection."), null);
    }
  }

  /** The model of the query; of several the last, as engines have it. */
  private @Nullable String model() {
    return models.isEmpty() ? null : models.get(models.size() - 1);
  }

  private void connect(Replica replica) {
    Upstream upstream = proxy.upstreams().of(replica);
    String own = upstream.authorization();
    MultiMap headers = Headers.upwards(request.headers(), proxy.passesCredentials(own));
    if (own != null) {
      headers.set("authorization", own);
    }
    headers.names().stream()
        .filter(name -> name.toLowerCase(Locale.ROOT).startsWith("sec-websocket-"))
        .toList()
        .forEach(headers::remove);
    headers.set(RequestIds.HEADER, requestId);
    WebSocketConnectOptions options = upstream.on(new WebSocketConnectOptions());
    options.setURI(uri).setHeaders(headers);
    options.setConnectTimeout(proxy.config().timeouts().connectMs());
    int answerMs = proxy.config().timeouts().firstByteMs();
    options.setTimeout(answerMs);
    answering.start(answerMs, proxy.nanoClock().getAsLong(), () -> {});
    options.setAllowOriginHeader(false);
    client
        .connect(options)
        .onComplete(connected -> {
          if (connected.succeeded()) {
            accept(connected.result());
          } else {
            refused(connected.cause());
          }
        });
  }

  private void refused(Throwable cause) {
    if (cause instanceof UpgradeRejectedException rejected) {
      boolean isError = rejected.getStatus() >= 400 && rejected.getStatus() < 600;
      String message = "The replica refused the connection.";
      refuse(
          ApiError.upstream(isError ? rejected.getStatus() : 502, "refused", message),
          rejected.getStatus() == 503 ? Outcome.UNAVAILABLE : Outcome.REFUSED);
    } else if (answering.isOver(proxy.nanoClock().getAsLong())) {
      boolean alive =
          assignment != null && assignment.replica().isAlive(proxy.nanoClock().getAsLong());
      refuse(
          ApiError.upstream(504, "timeout", "The replica took too long."),
          alive ? Outcome.CANCELLED : Outcome.FAILED);
    } else {
      String message = "The replica could not be reached or did not answer.";
      refuse(ApiError.upstream(502, "connect", message), Outcome.FAILED);
    }
  }

  private void refuse(ApiError error, @Nullable Outcome outcome) {
    if (!over) {
      proxy.metrics().countRejection(error.code());
      end(outcome == null ? Outcome.CANCELLED : outcome, ResponseEnd.COMPLETE, error.status());
      request.resume();
      error.send(request.response(), ApiError.Form.OPENAI);
    }
  }

  private void accept(WebSocket replica) {
    if (over) {
      replica.close();
      return;
    }
    up = replica;
    replica.pause();
    int patienceMs = proxy.config().timeouts().requestBodyMs();
    timer = loop.vertx().setTimer(patienceMs, id -> close(TRY_AGAIN, BODY_TIMEOUT));
    request // accepted when all of it has come
        .toWebSocket()
        .onSuccess(accepted -> join(accepted, replica))
        .onFailure(e -> {
          replica.close();
          end(Outcome.CANCELLED, ResponseEnd.CLIENT_GONE, Exchange.CLIENT_GONE_STATUS);
        });
  }

  private void join(ServerWebSocket accepted, WebSocket replica) {
    loop.vertx().cancelTimer(timer);
    if (over) {
      close(accepted, GOING_AWAY, null);
      return;
    }
    down = accepted;
    if (assignment != null) {
      assignment.answered();
    }
    timer =
        loop.vertx()
            .setTimer(proxy.config().timeouts().totalMs(), id -> close(TRY_AGAIN, SWITCHING));
    Runnable ended = () -> end(Outcome.COMPLETED, ResponseEnd.COMPLETE, SWITCHING);
    pass(accepted, replica, () -> {}, ended);
    pass(replica, accepted, this::responded, ended);
    if (replica.isClosed()) {
      close(accepted, replica.closeStatusCode(), replica.closeReason());
    } else {
      replica.resume();
    }
  }

  private void responded() {
    if (assignment != null) {
      assignment.responded(proxy.nanoClock().getAsLong());
    }
  }

  private static void pass(WebSocketBase from, WebSocketBase to, Runnable framed, Runnable ended) {
    from.frameHandler(frame -> {
      framed.run();
      if (frame.isClose() || to.isClosed()) {
        return;
      }
      to.writeFrame(frame);
      if (to.writeQueueFull()) {
        from.pause();
        to.drainHandler(v -> {
          if (!from.isClosed()) {
            from.resume();
          }
        });
      }
    });
    from.exceptionHandler(e -> to.close());
    from.closeHandler(v -> {
      close(to, from.closeStatusCode(), from.closeReason());
      ended.run();
    });
  }

  private static void close(WebSocketBase socket, @Nullable Short code, @Nullable String reason) {
    if (socket.isClosed()) {
      return;
    }
    if (code == null || code < FIRST_CODE || NEVER_SENT.contains(code)) {
      socket.close();
    } else {
      socket.close(code, reason);
    }
  }

  /** The process ends. */
  void cut() {
    close(GOING_AWAY, down == null ? ApiError.shuttingDown().status() : SWITCHING);
  }

  /**
   * @param status how the request ended if it has not become a WebSocket
   */
  private void close(short code, int status) {
    if (up == null) {
      refuse(ApiError.shuttingDown(), null);
      return;
    }
    close(up, code, null);
    if (down == null) {
      request.connection().close(); // the pending handshake owns the response
    } else {
      close(down, code, null);
    }
    end(Outcome.CANCELLED, ResponseEnd.CUT_OFF, status);
  }

  private void end(Outcome outcome, ResponseEnd ending, int status) {
    if (over) {
      return;
    }
    over = true;
    loop.vertx().cancelTimer(timer);
    if (assignment != null) {
      assignment.finished(outcome);
    }
    long lasted = proxy.nanoClock().getAsLong() - startNanos;
    try {
      proxy.metrics().countEnd(Routes.REALTIME, status, ending, lasted);
      proxy.logs().accessed(decision(status, ending, lasted));
    } finally {
      onEnd.run();
    }
  }

  private Decision decision(int status, ResponseEnd ending, long lastedNanos) {
    boolean whole = ending == ResponseEnd.COMPLETE && status == SWITCHING;
    String otherwise = ending == ResponseEnd.COMPLETE ? "rejected" : ending.label();
    return new Decision(
        new Decision.Request(requestId, "GET", Routes.REALTIME.path(), quota.name(), model(), null),
        assignment == null ? null : assignment.choice(),
        new Decision.Times(0, Double.NaN, Double.NaN, lastedNanos / NANOS_PER_MILLI),
        Decision.Tokens.NONE,
        new Decision.Result(
            whole ? "completed" : otherwise, status, null, assignment == null ? 0 : 1));
  }
}
