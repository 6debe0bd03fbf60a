package dev.warmpath.router.proxy;

import dev.warmpath.router.fleet.dispatch.Assignment;
import dev.warmpath.router.fleet.dispatch.DispatchRequest;
import dev.warmpath.router.fleet.dispatch.DispatchResult;
import dev.warmpath.router.fleet.dispatch.DispatchResult.NoCandidate;
import dev.warmpath.router.fleet.dispatch.Outcome;
import dev.warmpath.router.prompt.PromptPool;
import dev.warmpath.router.prompt.ReadRequest;
import dev.warmpath.router.prompt.ReadRequest.Unread;
import dev.warmpath.router.proxy.ProxyListener.Ending;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.ReportParameter;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One client's request from its head to the last byte of its response: the body is read, its prompt
 * tokenized elsewhere, a replica chosen, and its response passed down; another replica is tried as
 * long as the client has not seen a byte.
 *
 * <p>Confined to its event loop.
 */
final class Exchange {

  /*
   * Invariants:
   * I1  At most one attempt exists at a time; it owns exactly one assignment and finishes it.
   * I2  `over` turns true exactly once, by end(); after that nothing is sent and no attempt starts.
   * I3  Every path out of a callback that may come late begins with a look at `over`.
   */

  static final int CLIENT_GONE_STATUS = 499;

  /** The event loop's own things. */
  record Loop(Vertx vertx, Context context, HttpClient client, RequestIds ids) {}

  private final ProxyContext proxy;
  private final Loop loop;
  private final Route route;
  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final String requestId;
  private final long startNanos;
  private final Runnable onEnd;
  private final Set<String> tried = new HashSet<>();

  private Buffer body = Buffer.buffer();
  private boolean bodyRefused;
  private boolean over;
  private long timer = -1;
  private int attempts;
  private PromptPool.@Nullable Ticket ticket;
  private @Nullable ReadRequest read;
  private @Nullable Attempt attempt;

  Exchange(ProxyContext proxy, Loop loop, Route route, HttpServerRequest request, Runnable onEnd) {
    this.proxy = proxy;
    this.loop = loop;
    this.route = route;
    this.request = request;
    this.response = request.response();
    this.requestId = loop.ids().accept(request.getHeader(RequestIds.HEADER));
    this.startNanos = proxy.nanoClock().getAsLong();
    this.onEnd = onEnd;
  }

  void start() {
    response.putHeader(RequestIds.HEADER, requestId);
    response.closeHandler(v -> clientGone());
    response.exceptionHandler(e -> clientGone());
    request.exceptionHandler(e -> clientGone());
    request.handler(this::bodyChunk);
    request.endHandler(v -> bodyEnd());
    timer =
        loop.vertx()
            .setTimer(
                proxy.config().timeouts().requestBodyMs(), id -> refuse(ApiError.bodyTimeout()));
    if (declaredBytes() > proxy.config().limits().bodyBytes()) {
      refuse(ApiError.tooLarge(proxy.config().limits().bodyBytes()));
    }
  }

  private long declaredBytes() {
    try {
      return Long.parseLong(Optional.ofNullable(request.getHeader("content-length")).orElse("0"));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private void bodyChunk(Buffer chunk) {
    if (over || bodyRefused) {
      return;
    }
    if (body.length() + chunk.length() > proxy.config().limits().bodyBytes()) {
      refuse(ApiError.tooLarge(proxy.config().limits().bodyBytes()));
      return;
    }
    body.appendBuffer(chunk);
  }

  /**
   * Answers while the body still comes. The rest of it is thrown away for a while, for a client
   * that reads only after writing; then the connection ends.
   */
  private void refuse(ApiError error) {
    if (over || bodyRefused) {
      return;
    }
    bodyRefused = true;
    body = Buffer.buffer();
    reject(error);
    if (!request.isEnded()) {
      int patience = proxy.config().timeouts().requestBodyMs();
      long closing = loop.vertx().setTimer(patience, id -> request.connection().close());
      request.endHandler(v -> loop.vertx().cancelTimer(closing));
      request.exceptionHandler(e -> loop.vertx().cancelTimer(closing));
    }
  }

  private void bodyEnd() {
    if (over || bodyRefused) {
      return;
    }
    cancelTimer();
    timer = loop.vertx().setTimer(proxy.config().tokenizing().deadlineMs(), id -> giveUpReading());
    ticket = readPrompt(r -> loop.context().runOnContext(v -> promptRead(r)));
  }

  private PromptPool.Ticket readPrompt(Consumer<ReadRequest> done) {
    RequestKind kind = route.kind();
    return kind == null
        ? proxy.prompts().readModel(body.getBytes(), done)
        : proxy.prompts().read(kind, body.getBytes(), done);
  }

  private void giveUpReading() {
    if (ticket != null) {
      ticket.giveUp(Unread.DEADLINE);
    }
  }

  private void promptRead(ReadRequest result) {
    if (over) {
      return;
    }
    cancelTimer();
    ticket = null;
    read = result;
    if (result.unread() != null) {
      proxy.listener().unread(result.unread().label());
    }
    DispatchResult chosen = proxy.dispatcher().assign(dispatchRequest());
    if (chosen instanceof Assignment assignment) {
      begin(assignment);
    } else {
      reject(nobody(((NoCandidate) chosen).cause()));
    }
  }

  private DispatchRequest dispatchRequest() {
    ReadRequest known = Objects.requireNonNull(read);
    String header = request.getHeader(proxy.config().policy().sessionHeader());
    String session = header == null ? known.sessionKey() : header;
    return new DispatchRequest(
        known.model(), known.prompt(), session, known.namespace(), known.report(), tried);
  }

  private ApiError nobody(DispatchResult.Cause cause) {
    String model = read == null ? null : read.model();
    if (cause == DispatchResult.Cause.UNKNOWN_MODEL && model != null) {
      return ApiError.unknownModel(model);
    }
    return ApiError.unavailable("no_replica", "No replica can take the request: " + cause.label());
  }

  private void begin(Assignment assignment) {
    attempts++;
    tried.add(assignment.replica().name());
    attempt = new Attempt(this, proxy, loop, assignment);
    attempt.start(request, requestId, bodyFor(assignment));
  }

  private Buffer bodyFor(Assignment assignment) {
    return assignment.asksReport() ? Buffer.buffer(ReportParameter.addedTo(body.getBytes())) : body;
  }

  /**
   * Another replica for the request, reserved; empty if there is none or it was tried often enough.
   *
   * @param sameAgain whether a replica that was tried may be tried again when no other is left
   */
  private Optional<Assignment> another(boolean sameAgain) {
    if (attempts >= proxy.config().retry().attempts()) {
      return Optional.empty();
    }
    DispatchResult next = proxy.dispatcher().assign(dispatchRequest());
    if (sameAgain && next instanceof NoCandidate none && isExcluded(none)) {
      tried.clear();
      next = proxy.dispatcher().assign(dispatchRequest());
    }
    return next instanceof Assignment assignment ? Optional.of(assignment) : Optional.empty();
  }

  private static boolean isExcluded(NoCandidate none) {
    return none.cause() == DispatchResult.Cause.EXCLUDED;
  }

  /** The attempt found no replica at the other end, or was refused; its response is not wanted. */
  boolean retry(String cause, boolean sameAgain) {
    Optional<Assignment> next = over ? Optional.empty() : another(sameAgain);
    next.ifPresent(assignment -> {
      proxy.listener().retried(cause);
      attempt = null;
      afterBackoff(assignment);
    });
    return next.isPresent();
  }

  private void afterBackoff(Assignment assignment) {
    long longest =
        Math.min(
            proxy.config().retry().backoffLimitMs(),
            (long) proxy.config().retry().backoffMs() << Math.min(16, attempts - 1));
    long wait = longest == 0 ? 0 : proxy.random().nextLong(longest + 1);
    if (wait == 0) {
      begin(assignment);
      return;
    }
    attempt = Attempt.waiting(this, proxy, loop, assignment);
    timer = loop.vertx().setTimer(wait, id -> begin(assignment));
  }

  HttpServerResponse response() {
    return response;
  }

  HttpServerRequest request() {
    return request;
  }

  Route route() {
    return route;
  }

  long elapsedNanos() {
    return proxy.nanoClock().getAsLong() - startNanos;
  }

  /** The response has begun: no other replica can be tried, the body is not needed any more. */
  void committed() {
    body = Buffer.buffer();
  }

  /** Answers with an error of our own; nothing has been sent yet. */
  void reject(ApiError error) {
    if (!over) {
      end(error.status(), Ending.COMPLETE);
      proxy.listener().rejected(error.code());
      error.send(response, route.errors());
    }
  }

  /** The process ends: what has begun is cut off, with an error if one can still be said. */
  void cut() {
    if (over) {
      return;
    }
    ApiError error = ApiError.shuttingDown();
    Attempt current = attempt;
    if (current != null && response.headWritten()) {
      current.breakOff(error, Ending.CUT_OFF, Outcome.CANCELLED);
    } else {
      if (current != null) {
        current.abandon(Outcome.CANCELLED);
      }
      reject(error);
    }
  }

  private void clientGone() {
    if (over) {
      return;
    }
    end(response.headWritten() ? response.getStatusCode() : CLIENT_GONE_STATUS, Ending.CLIENT_GONE);
    if (attempt != null) {
      attempt.abandon(Outcome.CANCELLED);
    }
  }

  /** Notes the end, once. */
  void end(int status, Ending ending) {
    if (over) {
      return;
    }
    over = true;
    cancelTimer();
    if (ticket != null) {
      ticket.drop();
    }
    body = Buffer.buffer();
    proxy.listener().ended(route, status, ending, elapsedNanos());
    onEnd.run();
  }

  private void cancelTimer() {
    if (timer >= 0) {
      loop.vertx().cancelTimer(timer);
      timer = -1;
    }
  }
}
