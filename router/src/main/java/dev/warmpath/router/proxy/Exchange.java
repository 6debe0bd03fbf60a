package dev.warmpath.router.proxy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchResult;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.logs.RequestTrace;
import dev.warmpath.router.prompt.LoopBudget;
import dev.warmpath.router.prompt.RequestFields;
import dev.warmpath.router.security.ClientAccount;
import io.netty.buffer.Unpooled;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.internal.buffer.BufferInternal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's request from its head to the last byte of its response: the body is read, its prompt
 * tokenized elsewhere, a replica chosen, and its response passed down; another replica is tried as
 * long as the client has not seen a byte.
 *
 * <p>Confined to its event loop.
 */
final class Exchange implements RoutedRequest.Listener {

  /*
   *   BODY ───▶ PLACING ──────────────────────────▶ TRYING ───▶ OVER
   *                 │               PREFILLING      ▲ ▲  │
   *                 │                ▲         └────┘ │  ▼ failed before its first byte
   *                 └────────────────┴────────────────┴ BACKING_OFF
   *
   *   state         holds                                        what limits its time
   *   BODY          room for what came                           silence (request-body-ms)
   *   PLACING       the body, what RoutedRequest says            what RoutedRequest says
   *   TRYING        the body until the answer's first byte,      the attempt's limits
   *                 an attempt with its assignment
   *   BACKING_OFF   the body, the next assignment                a timer
   *   OVER          nothing
   *
   * Every state may end: by an error of our own, by a client that goes, by the end of the process.
   *
   *   PREFILLING    the body, a leg with its assignment, the     the leg's limits
   *                 place where the answer will be given
   *
   * What an attempt goes through in TRYING is drawn in Attempt. A request may be split over two
   * engines (Split): one computes its prompt, the other one answers it. Then a try has two legs.
   * With most connectors they follow each other, PREFILLING and then TRYING, and the second is told
   * what the first has answered; with some both go up at once, in TRYING. What fails before the
   * client's first byte takes both with it, and another try may take other engines, or one alone.
   *
   * I1  At most one attempt exists at a time but for the moment in which a failed one, whose place
   *     is given back, hands over; each owns exactly one assignment and finishes it. What is
   *     reserved for the next one during a back-off, or for the answer to a prompt that is computed
   *     elsewhere, is the exchange's until that begins. A try has at most one leg beside it.
   * I2  OVER is entered exactly once, by end(), or by failed() if even that fails; after that nothing
   *     is sent and no attempt starts.
   * I3  Every path out of a callback that may come late begins with a look at the state.
   * I4  Every callback, the attempt's too, is guarded: what it throws ends the exchange.
   */

  private enum State {
    /** The client's body comes. */
    BODY,
    /** Its prompt is read, and an engine looked for. */
    PLACING,
    /** A replica computes the prompt for another one, which gets the request afterwards. */
    PREFILLING,
    /** A replica has it. */
    TRYING,
    /** One has failed, and the next one is reserved. */
    BACKING_OFF,
    /** It was answered, or never will be. */
    OVER;

    boolean leadsTo(State next) {
      return switch (this) {
        case BODY -> next == PLACING || next == OVER;
        case PLACING, BACKING_OFF -> next == PREFILLING || next == TRYING || next == OVER;
        case PREFILLING -> next == TRYING || next == BACKING_OFF || next == OVER;
        case TRYING -> next == BACKING_OFF || next == OVER;
        case OVER -> false;
      };
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

  static final int CLIENT_GONE_STATUS = 499;
  private static final long HTTP_2_INTERNAL_ERROR = 2;
  private static final int MOST_DOUBLINGS = 16;

  /** From here on it is told that nobody else has computed a prompt. */
  private static final int LONG_PROMPT_TOKENS = 2_048;

  private static final String KEEP_ALIVE = ": keep-alive\n\n";

  /**
   * A request that replicas may have begun is sent to so many more, as it may be what ends them.
   */
  private static final int MOST_REPEATS = 1;

  /** How a try failed before a byte of the replica's answer went down to the client. */
  enum Failure {
    /** Not all of the request was sent: no replica can have begun it. */
    UNSENT(true, false),
    /** All of it was sent, and the connection ended. */
    DISCONNECTED(true, true),
    /** All of it was sent, and nothing came of it. */
    LOST(false, true),
    /** The replica has not begun it. */
    REFUSED(false, false);

    /** Whether the same replica may be tried again when no other is left. */
    private final boolean sameAgain;

    /** Whether the replica may have begun the request, so that another try repeats it. */
    private final boolean begun;

    Failure(boolean sameAgain, boolean begun) {
      this.sameAgain = sameAgain;
      this.begun = begun;
    }
  }

  /**
   * One event loop: its connections to the replicas, and the exchanges that are open on it. One
   * timer looks at the time limits of all of them, and there is none while there are no exchanges.
   */
  static final class Loop {
    private static final long NO_TIMER = -1;

    private final ProxyContext proxy;
    private final Vertx vertx;
    private final RoutedRequest.Loop requests;
    private final Supplier<HttpClient> upstream;
    private final long tickMs;
    private final RequestIds ids;
    private final Set<Exchange> open = new LinkedHashSet<>();
    private long timer = NO_TIMER;

    /**
     * A loop that serves nothing yet.
     *
     * @param upstream the connections to the replicas
     * @param tickMs how late a time limit may be noticed
     */
    Loop(
        ProxyContext proxy,
        Vertx vertx,
        Context context,
        Supplier<HttpClient> upstream,
        long tickMs) {
      this.proxy = proxy;
      this.vertx = vertx;
      this.requests = new RoutedRequest.Loop(context, new LoopBudget(proxy.nanoClock()));
      this.upstream = upstream;
      this.tickMs = tickMs;
      this.ids = new RequestIds(proxy.random());
    }

    Vertx vertx() {
      return vertx;
    }

    /** The connections to the replicas. */
    HttpClient client() {
      return upstream.get();
    }

    /** A request's id: the client's own, or a new one. */
    String requestId(HttpServerRequest request) {
      return ids.accept(request.getHeader(RequestIds.HEADER));
    }

    /** Serves a request that was let in, until it leaves the process's count of those. */
    void serve(Arrival arrival) {
      Exchange exchange = new Exchange(proxy, this, arrival);
      open.add(exchange);
      if (timer == NO_TIMER) {
        timer = vertx.setPeriodic(tickMs, id -> tick());
      }
      exchange.guarded(v -> exchange.start()).handle(null);
    }

    private void ended(Exchange exchange) {
      open.remove(exchange);
      proxy.admission().lifecycle().leave();
    }

    private void tick() {
      if (open.isEmpty()) {
        vertx.cancelTimer(timer);
        timer = NO_TIMER;
        return;
      }
      proxy.dispatcher().freed();
      long now = proxy.nanoClock().getAsLong();
      ArrayList<Exchange> late = new ArrayList<>(0);
      for (Exchange exchange : open) {
        if (exchange.isLate(now)) {
          late.add(exchange);
        }
      }
      late.forEach(exchange -> exchange.timeOut(now));
    }

    /** Cuts all of them off. */
    void cut() {
      new ArrayList<>(open).forEach(Exchange::cut);
    }
  }

  /**
   * A request whose head has come.
   *
   * @param client whose API key it came with, or null
   */
  record Arrival(
      Route route, HttpServerRequest request, RequestHead head, @Nullable ClientAccount client) {}

  private final ProxyContext proxy;
  private final Loop loop;
  private final Route route;
  private final HttpServerRequest request;
  private final String uri;
  private final HttpServerResponse response;
  private final String requestId;
  private final RequestBody body;
  private final RoutedRequest routed;
  private final Timeline timeline;
  private final TimeLimit limit = new TimeLimit();

  /** Time without a byte on the client's line; runs for a stream that is to be kept alive. */
  private final TimeLimit line = new TimeLimit();

  /** Replicas that have failed the request. */
  private final Set<String> tried = new HashSet<>();

  /** Tries after which a replica may have begun the request. */
  private int begun;

  private State state = State.BODY;
  private @Nullable Attempt attempt;

  /** Whether the response was begun as a stream before any replica's byte. */
  private boolean committed;

  /** Has the prompt computed, for this try. */
  private @Nullable PrefillLeg prefill;

  /** Waits for the end of a back-off, or for its prompt to be computed elsewhere. */
  private @Nullable Assignment reserved;

  private Exchange(ProxyContext proxy, Loop loop, Arrival arrival) {
    this.proxy = proxy;
    this.loop = loop;
    this.route = arrival.route();
    this.request = arrival.request();
    this.uri = arrival.head().uri();
    this.response = request.response();
    this.requestId = loop.requestId(request);
    this.body =
        new RequestBody(proxy.admission().bodies(), proxy.config().limits().bodyBytes(), request);
    this.routed =
        new RoutedRequest(
            proxy,
            loop.requests,
            new RoutedRequest.Head(
                route,
                request.method().name(),
                arrival.head().path(),
                request.headers(),
                arrival.client(),
                null,
                true),
            requestId,
            body,
            this);
    this.timeline = routed.timeline();
  }

  private void start() {
    response.putHeader(RequestIds.HEADER, requestId);
    response.closeHandler(guarded(v -> clientGone()));
    response.exceptionHandler(guarded(this::connectionFailed));
    request.exceptionHandler(guarded(this::connectionFailed));
    request.handler(guarded(this::bodyChunk));
    request.endHandler(guarded(v -> bodyEnd()));
    within(proxy.config().timeouts().requestBodyMs(), () -> refuse(ApiError.bodyTimeout()));
    if (ContentCoding.of(request.headers()) == ContentCoding.OTHER) {
      refuse(ApiError.unsupportedCoding());
    } else if (body.isDeclaredTooLarge()) {
      refuse(ApiError.tooLarge(proxy.config().limits().bodyBytes()));
    } else if (RequestHead.expectsContinue(request)) {
      response.writeContinue();
    }
  }

  /** The rest of the body does not come, or is no HTTP. */
  private void connectionFailed(Throwable cause) {
    if (request.version() == HttpVersion.HTTP_2 || cause instanceof HttpClosedException) {
      clientGone();
    } else if (!response.headWritten()) {
      response.putHeader("connection", "close");
      refuse(ApiError.unreadable(cause, proxy.config().limits().headerBytes()));
    }
  }

  /** The boundary of failures: nothing thrown within an exchange leaves it, or leaves it open. */
  <T> Handler<T> guarded(Handler<T> handler) {
    return event -> {
      try {
        handler.handle(event);
      } catch (RuntimeException | Error e) {
        failed(e);
      }
    };
  }

  @Override
  public void failed(Throwable bug) {
    LOG.error("a request failed, id={} path={}", requestId, route.path(), bug);
    try {
      breakOff(ApiError.internal());
    } catch (RuntimeException | Error e) {
      LOG.error("ending it failed too, id={}", requestId, e);
      if (!isOver()) {
        become(State.OVER);
        letGo();
      }
      sever();
    }
  }

  private void become(State next) {
    if (!state.leadsTo(next)) {
      throw new IllegalStateException("state=" + state + " next=" + next);
    }
    state = next;
  }

  private boolean isOver() {
    return state == State.OVER;
  }

  private void within(long limitMs, Runnable due) {
    limit.start(limitMs, proxy.nanoClock().getAsLong(), due);
  }

  private boolean isLate(long nowNanos) {
    return limit.isOver(nowNanos)
        || routed.isLate(nowNanos)
        || line.isOver(nowNanos)
        || (prefill != null && prefill.isLate(nowNanos))
        || (attempt != null && attempt.isLate(nowNanos));
  }

  /** Does what is due for its time limits. */
  private void timeOut(long nowNanos) {
    guarded(
            v -> {
              if (line.isOver(nowNanos)) {
                line.expire();
              }
              if (limit.isOver(nowNanos)) {
                limit.expire();
              } else if (routed.isLate(nowNanos)) {
                routed.timeOut();
              } else if (prefill != null && prefill.isLate(nowNanos)) {
                prefill.timeOut(nowNanos);
              } else if (attempt != null && attempt.isLate(nowNanos)) {
                attempt.timeOut(nowNanos);
              }
            })
        .handle(null);
  }

  private void bodyChunk(Buffer chunk) {
    if (state != State.BODY) {
      return;
    }
    switch (body.add(chunk)) {
      case TAKEN -> limit.flowed(chunk.length(), proxy.nanoClock().getAsLong());
      case TOO_LARGE -> refuse(ApiError.tooLarge(proxy.config().limits().bodyBytes()));
      case NO_ROOM -> refuse(ApiError.noRoom());
    }
  }

  /** Answers while the body still comes. */
  private void refuse(ApiError error) {
    if (state != State.BODY) {
      return;
    }
    UnreadBody.announce(request);
    reject(error);
    RouterConfig now = proxy.config();
    UnreadBody.discard(
        loop.vertx,
        proxy.nanoClock(),
        request,
        now.timeouts().requestBodyMs(),
        now.limits().bodyBytes());
  }

  private void bodyEnd() {
    if (state == State.BODY) {
      become(State.PLACING);
      limit.stop();
      routed.place();
    }
  }

  @Override
  public void read() {
    if (route.kind() != null && routed.isStreamed()) {
      awaitKeepAlive();
    }
  }

  @Override
  public void placed(Assignment assignment) {
    begin(assignment);
  }

  @Override
  public void refused(ApiError error) {
    reject(error);
  }

  /** Whether the client asked for a stream of events. */
  boolean isStreamed() {
    return routed.isStreamed();
  }

  /** Whether the client gets the answer's {@code kv_transfer_params} empty. */
  boolean hidesTransfers() {
    return routed.hidesTransfers();
  }

  private void awaitKeepAlive() {
    int intervalMs = proxy.config().timeouts().sseKeepAliveMs();
    if (intervalMs > 0 && !isOver()) {
      line.start(intervalMs, proxy.nanoClock().getAsLong(), this::keepAlive);
    }
  }

  /** Nothing went down for a while: says that the client's line is alive, if that can be said. */
  private void keepAlive() {
    if (isOver()) {
      return;
    }
    if (attempt == null || attempt.letsKeepAlive()) {
      if (!response.headWritten()) {
        commit();
      }
      if (!response.writeQueueFull()) {
        response.write(KEEP_ALIVE);
      }
    }
    awaitKeepAlive();
  }

  /**
   * Begins the stream without a replica's head. Others can be tried as long as none sent a byte.
   */
  private void commit() {
    committed = true;
    response
        .setStatusCode(200)
        .putHeader("content-type", "text/event-stream; charset=utf-8")
        .putHeader("cache-control", "no-cache")
        .putHeader("x-accel-buffering", "no") // or nginx keeps the comments to itself
        .setChunked(true);
  }

  /** Whether the response was begun as a stream before any replica's byte. */
  boolean isCommitted() {
    return committed;
  }

  /** Bytes of the response were sent. */
  void wrote(long nowNanos) {
    line.restart(nowNanos);
  }

  private void begin(Assignment assignment) {
    routed.dispatched(assignment);
    Assignment computing = assignment.prefill();
    reserved = assignment; // until a leg or an attempt has it
    KvTransfer transfer = computing == null ? KvTransfer.NONE : computing.replica().transfer();
    KvProtocol protocol = KvProtocol.of(transfer.connector()); // its role may have been switched
    boolean isSplit = protocol != null && body.takeRoomForTwo();
    if (computing != null && !isSplit) {
      computing.finished(Outcome.CANCELLED);
      proxy.metrics().countUnsplit("no_room");
    } else if (computing == null && isLongAndFirst(assignment)) {
      proxy.metrics().countUnsplit("alone");
    }
    if (!isSplit) {
      become(State.TRYING);
      attempt(assignment, routed.bodyFor(assignment), false);
    } else {
      Assignment computes = Objects.requireNonNull(computing);
      new Split(assignment, computes, transfer, Objects.requireNonNull(protocol)).begin();
    }
  }

  /** Whether splitting a request could be worth while that one engine serves. */
  private boolean isLongAndFirst(Assignment assignment) {
    return timeline.attempts() == 1
        && Objects.requireNonNull(routed.prepared()).splittable()
        && assignment.uncachedTokens() >= LONG_PROMPT_TOKENS;
  }

  /**
   * Sends the request.
   *
   * @param loads whether what another engine has computed is fetched
   */
  private void attempt(Assignment assignment, byte[] whole, boolean loads) {
    attempt = new Attempt(this, proxy, loop, assignment, loads);
    reserved = null;
    attempt.start(requestId, BufferInternal.buffer(Unpooled.wrappedBuffer(whole)));
  }

  /** One try of the request at two engines. */
  private final class Split implements PrefillLeg.Listener {
    private final Assignment answers;
    private final Assignment computes;
    private final RequestFields of = Objects.requireNonNull(routed.fields());
    private final KvTransfer transfer;
    private final KvProtocol protocol;
    private final PrefillLeg leg;
    private Handoff handoff;

    Split(Assignment answers, Assignment computes, KvTransfer transfer, KvProtocol protocol) {
      this.answers = answers;
      this.computes = computes;
      this.transfer = transfer;
      this.protocol = protocol;
      long room = proxy.random().nextLong() & Long.MAX_VALUE;
      handoff =
          new Handoff(
              Handoff.id(room),
              room,
              routed.keepsResponses(),
              computes.capsLoads(),
              Handoff.End.of(computes.replica(), computes.dpRank()),
              Handoff.End.of(answers.replica(), answers.dpRank()));
      leg = new PrefillLeg(Exchange.this, proxy, computes, this);
    }

    void begin() {
      become(State.PREFILLING);
      prefill = leg;
      if (transfer.connector() == KvTransfer.Connector.MOONCAKE) {
        leg.identify(
            loop,
            transfer,
            engineId -> {
              handoff = handoff.named(engineId);
              send();
            });
      } else {
        send();
      }
    }

    private void send() {
      leg.start(
          loop,
          Attempt.options(proxy, Exchange.this, computes, requestId),
          protocol.prefill(of, handoff));
      if (transfer.connector().isTogether() && isCurrent()) {
        answerAt(Objects.requireNonNull(protocol.decode(of, handoff, null)), true);
      }
    }

    /** Whether the exchange is still at this try. */
    private boolean isCurrent() {
      return prefill == leg && (state == State.PREFILLING || state == State.TRYING);
    }

    @Override
    public void computed(@Nullable JsonNode answer) {
      if (state == State.PREFILLING && isCurrent()) {
        byte[] decoded = protocol.decode(of, handoff, answer);
        proxy
            .metrics()
            .countSplit(decoded == null ? "no_handoff" : "handed_over", computes, answers);
        byte[] whole = decoded == null ? KvProtocol.alone(body.whole(), of) : decoded;
        answerAt(whole, decoded != null);
      } else {
        proxy.metrics().countSplit("handed_over", computes, answers);
      }
    }

    /** The engine that answers computes all, and says better what is wrong. */
    @Override
    public void refused(int status, byte[] why) {
      proxy.metrics().countSplit("refused", computes, answers);
      Attempt current = attempt;
      if (state == State.PREFILLING && isCurrent()) {
        answerAt(KvProtocol.alone(body.whole(), of), false);
      } else if (isCurrent() && current != null && !current.hasBegun()) {
        current.abandon(Outcome.CANCELLED);
        ResponseEnd ending = committed ? ResponseEnd.BROKEN_OFF : ResponseEnd.COMPLETE;
        endWith(ApiError.ofEngine(status, why), ending);
      }
    }

    @Override
    public void failed(String cause, Failure failure) {
      proxy.metrics().countSplit("failed", computes, answers);
      tried.add(computes.replica().name());
      failBoth("prefill_" + cause, failure);
    }

    private void answerAt(byte[] decoded, boolean loads) {
      become(State.TRYING);
      attempt(answers, decoded, loads);
    }

    /** Both legs are done again elsewhere, if the client has seen nothing of this try. */
    private void failBoth(String cause, Failure failure) {
      Attempt current = attempt;
      if (!isCurrent() || (current != null && current.hasBegun())) {
        return;
      }
      prefill = null;
      reserved = null;
      if (current != null) {
        current.abandon(Outcome.CANCELLED);
      }
      if (!retryElsewhere(answers, Outcome.CANCELLED, cause, failure)) {
        answers.finished(Outcome.CANCELLED);
        reject(ApiError.upstream(502, cause, "The replica that computes the prompt failed."));
      }
    }
  }

  /** The leg that computes this try's prompt elsewhere; null if none does. */
  @Nullable PrefillLeg prefill() {
    return prefill;
  }

  /**
   * Another pair of engines is tried: what the prefill has handed over could not be loaded, of
   * which it is the likelier cause.
   *
   * @return whether there is one; the attempt's response is not wanted then
   */
  boolean retryLoad(Assignment failed) {
    Assignment computing = Objects.requireNonNull(failed.prefill());
    tried.add(computing.replica().name());
    proxy.metrics().countSplit("not_loaded", computing, failed);
    return retryElsewhere(failed, Outcome.CANCELLED, "failed_load", Failure.LOST);
  }

  /**
   * The attempt failed before a byte of the replica's answer went down: gives its place back and
   * has another replica tried, if there is one for the request and it was not tried often enough.
   *
   * @return whether there is one; the attempt's response is not wanted then
   */
  boolean retry(Assignment failed, Outcome outcome, String cause, Failure failure) {
    tried.add(failed.replica().name());
    return retryElsewhere(failed, outcome, cause, failure);
  }

  private boolean retryElsewhere(
      Assignment failed, Outcome outcome, String cause, Failure failure) {
    begun += failure.begun ? 1 : 0;
    if (isOver() || !mayRetry(failure)) {
      return false;
    }
    PreparedRequest request = Objects.requireNonNull(routed.prepared());
    DispatchResult next =
        proxy.dispatcher().reassign(request, failed, outcome, tried, failure.sameAgain);
    if (!(next instanceof Assignment assignment)) {
      return false;
    }
    proxy.retries().spend();
    proxy.metrics().countRetry(cause);
    attempt = null;
    leavePrefill();
    become(State.BACKING_OFF);
    backOff(assignment);
    return true;
  }

  private void leavePrefill() {
    if (prefill != null) {
      prefill.abandon();
      prefill = null;
    }
  }

  private boolean mayRetry(Failure failure) {
    int retries = timeline.attempts() - 1;
    return retries < proxy.config().retry().attempts() - 1
        && retries < RoutingHeaders.maxRetries(request.headers())
        && !(failure.begun && begun > MOST_REPEATS)
        && proxy.retries().isLeft();
  }

  private void backOff(Assignment next) {
    reserved = next;
    long waitMs = backoffMs();
    if (waitMs == 0) {
      beginReserved();
    } else {
      loop.vertx.setTimer(waitMs, guarded(id -> beginReserved()));
    }
  }

  /** Without effect if the exchange is over: what was reserved was given back then. */
  private void beginReserved() {
    Assignment assignment = reserved;
    reserved = null;
    if (assignment != null) {
      begin(assignment);
    }
  }

  /** Milliseconds to wait before the next attempt, by chance. */
  private long backoffMs() {
    RouterConfig.Retry bounds = proxy.config().retry();
    int doublings = Math.min(MOST_DOUBLINGS, timeline.attempts() - 1);
    long longest = Math.min(bounds.backoffLimitMs(), (long) bounds.backoffMs() << doublings);
    return longest == 0 ? 0 : proxy.random().nextLong(longest + 1);
  }

  HttpServerResponse response() {
    return response;
  }

  /** The path and query that the client asks for. */
  String uri() {
    return uri;
  }

  HttpServerRequest request() {
    return request;
  }

  Route route() {
    return route;
  }

  /** The form in which the client expects errors. */
  ApiError.Form errors() {
    return ApiError.Form.of(route);
  }

  Timeline timeline() {
    return timeline;
  }

  /** The request's way to its engine, and its record. */
  RoutedRequest routed() {
    return routed;
  }

  long elapsedNanos() {
    return routed.elapsedNanos();
  }

  /** Null if the request is not traced. */
  @Nullable RequestTrace trace() {
    return routed.trace();
  }

  /** A replica's answer has begun: no other can be tried, the body is not needed any more. */
  void answerBegan() {
    routed.dropBody();
    if (prefill != null && prefill.isOver()) {
      prefill = null;
    }
  }

  /** Answers with an error of our own; nothing of an answer has been sent yet. */
  void reject(ApiError error) {
    if (!isOver()) {
      routed.rejected(error);
      endWith(error, committed ? ResponseEnd.CUT_OFF : ResponseEnd.COMPLETE);
    }
  }

  /** Ends the response with an error; nothing of an answer has been sent yet. */
  void endWith(ApiError error, ResponseEnd ending) {
    end(committed ? response.getStatusCode() : error.status(), ending);
    if (committed) {
      response.end(error.event(errors(), 0));
    } else {
      error.send(response, errors());
    }
  }

  @Override
  public void evicted(ApiError why) {
    guarded(v -> breakOff(why)).handle(null);
  }

  /** The process ends: what has begun is cut off, with an error if one can still be said. */
  private void cut() {
    guarded(v -> breakOff(ApiError.shuttingDown())).handle(null);
  }

  private void breakOff(ApiError error) {
    if (isOver()) {
      return;
    }
    Attempt current = attempt;
    if (current != null && current.hasBegun()) {
      current.breakOff(error, ResponseEnd.CUT_OFF, Outcome.CANCELLED);
    } else {
      if (current != null) {
        current.abandon(Outcome.CANCELLED);
      }
      reject(error);
    }
    if (!isOver()) {
      end(response.getStatusCode(), ResponseEnd.CUT_OFF);
      sever();
    }
  }

  /** Ends the client's stream in the middle; with HTTP/1 that is its connection. */
  void sever() {
    if (request.version() == HttpVersion.HTTP_2) {
      response.reset(HTTP_2_INTERNAL_ERROR);
    } else {
      request.connection().close();
    }
  }

  private void clientGone() {
    if (isOver()) {
      return;
    }
    end(
        response.headWritten() ? response.getStatusCode() : CLIENT_GONE_STATUS,
        ResponseEnd.CLIENT_GONE);
    if (attempt != null) {
      attempt.abandon(Outcome.CANCELLED);
    }
  }

  /** Notes the end, once. Who sees that it is served no more sees it counted and logged. */
  void end(int status, ResponseEnd ending) {
    if (isOver()) {
      return;
    }
    become(State.OVER);
    try {
      routed.ended(status, ending);
    } finally {
      letGo();
    }
  }

  /** Lets go of all that the exchange holds, when it is over. */
  private void letGo() {
    limit.stop();
    line.stop();
    leavePrefill();
    if (reserved != null) {
      reserved.finished(Outcome.CANCELLED);
      reserved = null;
    }
    routed.drop();
    loop.ended(this);
  }
}
