package dev.warmpath.router.proxy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.auth.Client;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.dispatch.Assignment;
import dev.warmpath.router.fleet.dispatch.DispatchResult;
import dev.warmpath.router.fleet.dispatch.DispatchResult.NoCandidate;
import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.dispatch.RoutingHints;
import dev.warmpath.router.fleet.engine.Outcome;
import dev.warmpath.router.prompt.PromptPool;
import dev.warmpath.router.prompt.ReadRequest;
import dev.warmpath.router.prompt.body.BodyFields;
import dev.warmpath.router.requestlog.Decision;
import dev.warmpath.router.requestlog.PromptPieces;
import dev.warmpath.router.trace.RequestTrace;
import dev.warmpath.router.trace.Tracing;
import dev.warmpath.router.transfer.Handoff;
import dev.warmpath.router.transfer.KvProtocol;
import dev.warmpath.router.transfer.RequestFields;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import io.netty.buffer.Unpooled;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.internal.buffer.BufferInternal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's request from its head to the last byte of its response: the body is read, its prompt
 * tokenized elsewhere, a replica chosen, and its response passed down; another replica is tried as
 * long as the client has not seen a byte.
 *
 * <p>Confined to its event loop, except {@link #decide} and {@link #leaveQueue}, which hand over to
 * it.
 */
final class Exchange {

  /*
   *   BODY ───▶ PROMPT ───────────────────────────▶ TRYING ───▶ OVER
   *                │       reserved      PREFILLING ▲ ▲  │
   *       all full ▼                    ▲         └─┘ │  ▼ failed before its first byte
   *             QUEUED ─────────────────┴─────────────┴ BACKING_OFF
   *                       has its turn
   *
   *   state         holds                                        what limits its time
   *   BODY          room for what came, and for what a           silence (request-body-ms)
   *                 compressed body stands for
   *   PROMPT        the body, a ticket of the prompt pool,       deadline-ms, then ten times that
   *                 whose thread runs decide()
   *   QUEUED        the body, a place in the queue               queue.timeout-ms
   *   TRYING        the body until the answer's first byte,      the attempt's limits
   *                 an attempt with its assignment
   *   BACKING_OFF   the body, the next assignment                a timer
   *   OVER          nothing
   *
   * Every state may end: by an error of our own, by a client that goes, by the end of the process. A
   * place in the queue can have its turn before it was told: then PROMPT becomes TRYING.
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
    /** Its prompt is read, and an engine asked for. */
    PROMPT,
    /** All replicas are full. */
    QUEUED,
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
        case BODY -> next == PROMPT || next == OVER;
        case PROMPT -> next == QUEUED || next == PREFILLING || next == TRYING || next == OVER;
        case QUEUED, BACKING_OFF -> next == PREFILLING || next == TRYING || next == OVER;
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

  /** How a try failed before the client got a byte of its response. */
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
    private final Context context;
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
      this.context = context;
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
      Route route, HttpServerRequest request, RequestHead head, @Nullable Client client) {}

  private final ProxyContext proxy;
  private final Loop loop;
  private final Route route;
  private final HttpServerRequest request;
  private final String uri;
  private final HttpServerResponse response;
  private final String requestId;
  private final long startNanos;
  private RequestBody body;
  private final ClientQuota quota;
  private final TimeLimit limit = new TimeLimit();

  /** Time without a byte on the client's line; runs for a stream that is to be kept alive. */
  private final TimeLimit line = new TimeLimit();

  /** The stored response that the request's path names, or null. */
  private final @Nullable String storedId;

  private final Timeline timeline = new Timeline(this::elapsedNanos);

  /** Null if the request is not traced. */
  private final @Nullable RequestTrace trace;

  /** Replicas that have failed the request. */
  private final Set<String> tried = new HashSet<>();

  /** Tries after which a replica may have begun the request. */
  private int begun;

  private State state = State.BODY;
  private DispatchResult.@Nullable Queued queued;

  /** When an engine was asked for; written before that by the prompt's thread. */
  private long askedNanos;

  /** Decodes the body; or has. */
  private @Nullable Runnable decoding;

  private PromptPool.@Nullable Ticket ticket;
  private @Nullable PreparedRequest prepared;
  private @Nullable BlockChain pieces;
  private boolean hidesTransfers;
  private @Nullable Attempt attempt;

  /** Whether the response was begun as a stream before any replica's byte. */
  private boolean committed;

  /** Where the fields of the body lie; null where nothing is to be changed, or can be. */
  private @Nullable RequestFields fields;

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
    this.quota = new ClientQuota(arrival.client(), proxy.nanoClock());
    this.response = request.response();
    this.requestId = loop.requestId(request);
    this.storedId = Routes.storedId(arrival.head().path());
    this.startNanos = proxy.nanoClock().getAsLong();
    Tracing tracing = proxy.tracing();
    this.trace =
        tracing == null
            ? null
            : tracing.accept(request.method().name(), route.path(), request::getHeader);
    this.body =
        new RequestBody(proxy.admission().bodies(), proxy.config().limits().bodyBytes(), request);
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

  private void failed(Throwable bug) {
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
    ContentCoding coding = ContentCoding.of(request.headers());
    if (coding == ContentCoding.IDENTITY || body.isEmpty()) {
      readPrompt();
    } else if (state == State.BODY) {
      decode(coding);
    }
  }

  /** Replaces the body by what it stands for, which another thread finds out. */
  private void decode(ContentCoding coding) {
    byte[] coded = body.whole();
    RequestBody bounds = body;
    within(proxy.config().timeouts().requestBodyMs(), () -> reject(ApiError.bodyTimeout()));
    Runnable work =
        () -> {
          Handler<Void> end;
          try {
            RequestBody.Decoded decoded = RequestBody.decode(coding, coded, bounds);
            end = v -> decoded(decoded);
          } catch (IOException e) {
            end = v -> reject(ApiError.undecodable(coding));
          } catch (RuntimeException | Error e) {
            end = v -> failed(e);
          }
          loop.context.runOnContext(guarded(end));
        };
    decoding = work;
    if (!proxy.prompts().execute(work)) {
      reject(ApiError.unread());
    }
  }

  private void decoded(RequestBody.Decoded decoded) {
    decoding = null;
    if (state != State.BODY) {
      decoded.body().drop();
      return;
    }
    switch (decoded.taken()) {
      case TAKEN -> {
        body.drop();
        body = decoded.body();
        readPrompt();
      }
      case TOO_LARGE -> reject(ApiError.tooLarge(proxy.config().limits().bodyBytes()));
      case NO_ROOM -> reject(ApiError.noRoom());
    }
  }

  private void readPrompt() {
    if (state != State.BODY) {
      return;
    }
    become(State.PROMPT);
    timeline.bodyEnded();
    if (trace != null) {
      trace.tokenizing();
    }
    within(proxy.config().tokenizing().deadlineMs(), this::giveUpReading);
    RoutingHints hints = RoutingHeaders.of(proxy.config(), request.headers(), quota.client());
    List<String> types = request.headers().getAll(HttpHeaders.CONTENT_TYPE);
    String contentType = types.isEmpty() ? null : String.join(", ", types);
    byte[] whole = body.whole();
    Consumer<@Nullable ReadRequest> read = found -> decide(found, whole);
    RequestKind kind = route.kind();
    ticket =
        kind == null || BodyFields.isForm(contentType)
            ? proxy.prompts().readWithoutPrompt(whole, contentType, hints, read)
            : proxy.prompts().read(kind, whole, hints, read);
  }

  /**
   * Judges a request that was read by its client's quota, and asks for an engine. Called once on a
   * thread of the prompt pool; what throws here ends the exchange too.
   */
  private void decide(@Nullable ReadRequest read, byte[] whole) {
    try {
      if (read == null) {
        ApiError refusal = ApiError.unread();
        loop.context.runOnContext(guarded(v -> reject(refusal)));
        return;
      }
      String stored = keepsResponses() ? read.previousResponse() : storedId;
      PreparedRequest request = toDispatch(read.request(), stored);
      BlockChain logged = proxy.logs().wantsPieces() ? PromptPieces.of(request) : null;
      boolean hides = mayHideTransfers(whole);
      boolean mayTransfer = route.kind() != null && proxy.dispatcher().transfers();
      boolean mayCap = route.kind() != null && proxy.dispatcher().readsBack();
      RequestFields found = mayTransfer || mayCap ? RequestFields.of(whole) : null;
      ApiError refused = refusal(read, request, stored);
      ApiError refusal =
          refused == null && mayTransfer && found == null ? ApiError.noObject() : refused;
      boolean isSplittable = mayTransfer && found != null && found.isForOneAnswer();
      PreparedRequest asked = isSplittable ? request.split() : request;
      if (!mayTransfer && found != null && KvProtocol.isSteered(found)) {
        found = null; // the client knows better
      } else if (mayCap && found != null) {
        asked = asked.capping();
      }
      prepared = asked; // all that before it asks: what waits may have its turn at once
      pieces = logged;
      fields = found;
      hidesTransfers = hides || (mayTransfer && !passesTransfers());
      DispatchResult placed = ask(asked, refusal);
      loop.context.runOnContext(
          guarded(v -> {
            if (isOver()) {
              quota.over(timeline); // it was counted after the client had left
            }
            decided(refusal, placed);
          }));
    } catch (RuntimeException | Error e) {
      loop.context.runOnContext(v -> failed(e));
    }
  }

  /** The request as it is dispatched: a stored response may be at one replica alone. */
  private PreparedRequest toDispatch(PreparedRequest read, @Nullable String stored) {
    PreparedRequest request = route.computes() ? read : read.withoutWork();
    return stored == null ? request : request.only(proxy.admission().responses().replica(stored));
  }

  /**
   * The client of a stored response may see it, and needs no model for that; nobody else may, nor
   * may a response go on from it.
   */
  private @Nullable ApiError refusal(
      ReadRequest read, PreparedRequest request, @Nullable String stored) {
    if (stored != null && !proxy.admission().responses().isOf(stored, quota.name())) {
      return ApiError.responseNotFound();
    }
    return storedId != null ? quota.refusal(request) : quota.refusal(request, () -> models(read));
  }

  private List<String> models(ReadRequest read) {
    return read.models().stream().map(proxy.prompts().reader()::modelOf).toList();
  }

  /** A client that sends such parameters knows the engines, as a sidecar of them does. */
  private boolean mayHideTransfers(byte[] whole) {
    String passes = proxy.config().headers().passTransferParams();
    return route.kind() != null
        && !passesTransfers()
        && (passes.equals("never") || !TransferParams.areNamedIn(whole));
  }

  private boolean passesTransfers() {
    return proxy.config().headers().passTransferParams().equals("always");
  }

  /** Asks for an engine, unless the request is refused. */
  private @Nullable DispatchResult ask(PreparedRequest request, @Nullable ApiError refusal) {
    if (trace != null) {
      trace.deciding(request.model(), request.prompt().lengthTokens(), request.prompt().fallback());
    }
    askedNanos = elapsedNanos();
    DispatchResult placed = refusal == null ? admit(request) : null;
    if (trace != null) {
      trace.decided(word(placed));
    }
    return placed;
  }

  /** Without the replica that it needs another one may tell the client so. */
  private DispatchResult admit(PreparedRequest request) {
    DispatchResult result = proxy.dispatcher().admit(request, this::leaveQueue);
    boolean isGone = result instanceof NoCandidate && request.onlyReplica() != null;
    return isGone ? proxy.dispatcher().admit(request.only(null), this::leaveQueue) : result;
  }

  private static String word(@Nullable DispatchResult result) {
    if (result instanceof Assignment assignment) {
      return assignment.engine();
    }
    return result instanceof NoCandidate none ? none.cause().label() : "queued";
  }

  /** First the prompt is given up; if the rest cannot be read in ten times that, the request is. */
  private void giveUpReading() {
    if (ticket == null) {
      return;
    }
    if (ticket.giveUp(FallbackCause.DEADLINE)) {
      within(10L * proxy.config().tokenizing().deadlineMs(), this::giveUpReading);
    } else {
      reject(ApiError.unread());
    }
  }

  /** Whether the client asked for a stream of events. */
  boolean isStreamed() {
    return prepared != null && prepared.streamed();
  }

  /** Whether the client gets the answer's {@code kv_transfer_params} empty. */
  boolean hidesTransfers() {
    return hidesTransfers;
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
    line.again(nowNanos);
  }

  /** Whether the answer is a stored response, which its replica keeps. */
  private boolean keepsResponses() {
    return route.kind() == RequestKind.RESPONSES;
  }

  /** It left the queue; called on any thread. */
  private void leaveQueue(DispatchResult result) {
    loop.context.runOnContext(
        guarded(v -> {
          if (state == State.PROMPT) {
            timeline.queued(askedNanos);
          }
          queued = null;
          timeline.left();
          if (trace != null) {
            trace.leftQueue();
          }
          proxy.metrics().recordQueueWait(elapsedNanos());
          placed(result);
        }));
  }

  private void decided(@Nullable ApiError refusal, @Nullable DispatchResult placed) {
    ticket = null;
    if (route.kind() != null && isStreamed()) {
      awaitKeepAlive();
    }
    if (placed != null) {
      placed(placed);
    } else if (refusal != null) {
      reject(refusal);
    }
  }

  private void placed(DispatchResult result) {
    if (isOver()) {
      release(result);
    } else if (result instanceof Assignment assignment) {
      begin(assignment);
    } else if (result instanceof DispatchResult.Queued place) {
      queue(place);
    } else {
      reject(noCandidate((NoCandidate) result));
    }
  }

  private ApiError noCandidate(NoCandidate none) {
    boolean isWhole = proxy.dispatcher().transfers() && prepared != null && !prepared.splittable();
    boolean isServedByPairsOnly =
        isWhole
            && none.cause() != DispatchResult.Cause.UNKNOWN_MODEL
            && proxy.dispatcher().engines().stream()
                .noneMatch(engine -> engine.replica().transfer().servesAlone());
    String model = prepared == null ? null : prepared.model();
    return isServedByPairsOnly
        ? ApiError.unsplittable()
        : ApiError.noCandidate(none.cause(), model);
  }

  /** It may have left the queue before its place in it was told. */
  private void queue(DispatchResult.Queued place) {
    if (state == State.PROMPT) {
      become(State.QUEUED);
      queued = place;
      timeline.queued(askedNanos);
      within(proxy.config().queue().timeoutMs(), this::giveUpWaiting);
    }
  }

  private static void release(DispatchResult result) {
    if (result instanceof Assignment assignment) {
      assignment.finished(Outcome.CANCELLED);
    } else if (result instanceof DispatchResult.Queued place) {
      place.withdraw();
    }
  }

  private void giveUpWaiting() {
    if (queued != null && queued.withdraw()) {
      queued = null;
      reject(ApiError.unavailable("queue_timeout", "No replica had room for it in time."));
    }
  }

  private void begin(Assignment assignment) {
    limit.stop();
    timeline.dispatched(assignment);
    Assignment computing = assignment.prefill();
    reserved = assignment; // until a leg or an attempt has it
    boolean isSplit = computing != null && body.takeRoomForTwo();
    if (computing != null && !isSplit) {
      computing.finished(Outcome.CANCELLED);
      proxy.metrics().countUnsplit("no_room");
    } else if (computing == null && isLongAndFirst(assignment)) {
      proxy.metrics().countUnsplit("alone");
    }
    if (!isSplit) {
      become(State.TRYING);
      // not a copy, since room was taken for one; nobody writes to it
      boolean caps = assignment.capsLoads() && body.takeRoomForTwo();
      if (assignment.capsLoads() && !caps) {
        assignment.uncapped();
      }
      byte[] whole = KvProtocol.alone(body.whole(), fields, caps);
      attempt(assignment, whole, false);
    } else {
      new Split(assignment, Objects.requireNonNull(computing)).begin();
    }
  }

  /** Whether splitting a request could be worth while that one engine serves. */
  private boolean isLongAndFirst(Assignment assignment) {
    return timeline.attempts() == 1
        && Objects.requireNonNull(prepared).splittable()
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
    private final RequestFields of = Objects.requireNonNull(fields);
    private final KvTransfer transfer;
    private final KvProtocol protocol;
    private final PrefillLeg leg;
    private Handoff handoff;

    Split(Assignment answers, Assignment computes) {
      this.answers = answers;
      this.computes = computes;
      transfer = computes.replica().transfer();
      protocol = Objects.requireNonNull(KvProtocol.of(transfer.connector()));
      long room = proxy.random().nextLong() & Long.MAX_VALUE;
      handoff =
          new Handoff(
              "wp-" + Long.toHexString(room),
              room,
              keepsResponses(),
              computes.capsLoads(),
              end(computes),
              end(answers));
      leg = new PrefillLeg(Exchange.this, proxy, computes, this);
    }

    private Handoff.End end(Assignment at) {
      KvTransfer there = at.replica().transfer();
      return new Handoff.End(
          there.host(), there.port(), there.secondPort(), at.dpRank(), at.replica().ranks(), "");
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
        byte[] whole = decoded == null ? KvProtocol.alone(body.whole(), of, false) : decoded;
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
        answerAt(KvProtocol.alone(body.whole(), of, false), false);
      } else if (isCurrent() && current != null && !current.hasBegun()) {
        current.abandon(Outcome.CANCELLED);
        Ending ending = committed ? Ending.BROKEN_OFF : Ending.COMPLETE;
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
      if (!again(answers, Outcome.CANCELLED, cause, failure)) {
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
    return again(failed, Outcome.CANCELLED, "failed_load", Failure.LOST);
  }

  /**
   * The attempt failed before the client got a byte of its response: gives its place back and has
   * another replica tried, if there is one for the request and it was not tried often enough.
   *
   * @return whether there is one; the attempt's response is not wanted then
   */
  boolean retry(Assignment failed, Outcome outcome, String cause, Failure failure) {
    tried.add(failed.replica().name());
    return again(failed, outcome, cause, failure);
  }

  private boolean again(Assignment failed, Outcome outcome, String cause, Failure failure) {
    begun += failure.begun ? 1 : 0;
    if (isOver() || !mayRetry(failure)) {
      return false;
    }
    PreparedRequest request = Objects.requireNonNull(prepared);
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

  long elapsedNanos() {
    return proxy.nanoClock().getAsLong() - startNanos;
  }

  /** A replica is about to get the request. */
  void sending() {
    if (timeline.attempts() == 1) {
      proxy.metrics().recordRouting(timeline.routingNanos());
    }
  }

  /** Null if the request is not traced. */
  @Nullable RequestTrace trace() {
    return trace;
  }

  /** The answer has this id. */
  void named(Assignment assignment, @Nullable String id) {
    if (keepsResponses()) {
      proxy.admission().responses().made(id, assignment.replica().name(), quota.name());
    }
  }

  /** An engine has answered it whole. */
  void used(Assignment assignment, Usage usage) {
    String model = prepared == null ? null : prepared.model();
    assignment
        .meters()
        .countTokens(model, usage.promptTokens(), usage.cachedTokens(), usage.answerTokens());
  }

  /** A replica's answer has begun: no other can be tried, the body is not needed any more. */
  void answerBegan() {
    body.drop();
    fields = null;
    if (prefill != null && prefill.isOver()) {
      prefill = null;
    }
  }

  /** Answers with an error of our own; nothing of an answer has been sent yet. */
  void reject(ApiError error) {
    if (!isOver()) {
      timeline.rejected(error.code());
      proxy.metrics().countRejection(error.code());
      endWith(error, committed ? Ending.CUT_OFF : Ending.COMPLETE);
    }
  }

  /** Ends the response with an error; nothing of an answer has been sent yet. */
  void endWith(ApiError error, Ending ending) {
    end(committed ? response.getStatusCode() : error.status(), ending);
    if (committed) {
      response.end(error.event(errors(), 0));
    } else {
      error.send(response, errors());
    }
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
      current.breakOff(error, Ending.CUT_OFF, Outcome.CANCELLED);
    } else {
      if (current != null) {
        current.abandon(Outcome.CANCELLED);
      }
      reject(error);
    }
    if (!isOver()) {
      end(response.getStatusCode(), Ending.CUT_OFF);
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
    end(response.headWritten() ? response.getStatusCode() : CLIENT_GONE_STATUS, Ending.CLIENT_GONE);
    if (attempt != null) {
      attempt.abandon(Outcome.CANCELLED);
    }
  }

  /** Notes the end, once. Who sees that it is served no more sees it counted and logged. */
  void end(int status, Ending ending) {
    if (isOver()) {
      return;
    }
    become(State.OVER);
    try {
      proxy.metrics().countEnd(route, status, ending, elapsedNanos());
      quota.over(timeline);
      if (trace != null) {
        trace.ended(status, timeline.outcome(status, ending));
      }
      proxy.logs().ended(timeline.decision(asked(), prepared, status, ending), prepared, pieces);
    } finally {
      letGo();
    }
  }

  private Decision.Request asked() {
    return new Decision.Request(
        requestId,
        request.method().name(),
        route.path(),
        quota.name(),
        prepared == null ? null : prepared.model(),
        prepared == null ? null : prepared.sessionKey());
  }

  /** Lets go of all that the exchange holds, when it is over. */
  private void letGo() {
    limit.stop();
    line.stop();
    if (decoding != null) {
      proxy.prompts().withdraw(decoding);
    }
    if (ticket != null) {
      ticket.drop();
    }
    if (queued != null) {
      queued.withdraw();
    }
    leavePrefill();
    fields = null;
    if (reserved != null) {
      reserved.finished(Outcome.CANCELLED);
      reserved = null;
    }
    body.drop();
    loop.ended(this);
  }
}
