package dev.warmpath.router.picker;

import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchResult;
import dev.warmpath.router.dispatch.Prediction;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.logs.Decision;
import dev.warmpath.router.logs.RequestTrace;
import dev.warmpath.router.picker.ExtProc.BodyMode;
import dev.warmpath.router.picker.ExtProc.Kind;
import dev.warmpath.router.picker.ExtProc.Modes;
import dev.warmpath.router.picker.ExtProc.Mutation;
import dev.warmpath.router.picker.PickerVerticle.PickerMetrics;
import dev.warmpath.router.picker.PickerVerticle.PickerMetrics.Pick;
import dev.warmpath.router.proxy.AnswerWatch;
import dev.warmpath.router.proxy.ApiError;
import dev.warmpath.router.proxy.ClientConnections;
import dev.warmpath.router.proxy.ClientModel;
import dev.warmpath.router.proxy.ContentCoding;
import dev.warmpath.router.proxy.Headers;
import dev.warmpath.router.proxy.Lifecycle;
import dev.warmpath.router.proxy.ProxyContext;
import dev.warmpath.router.proxy.RequestBody;
import dev.warmpath.router.proxy.RequestIds;
import dev.warmpath.router.proxy.ResponseEnd;
import dev.warmpath.router.proxy.Route;
import dev.warmpath.router.proxy.RoutedRequest;
import dev.warmpath.router.proxy.TimeLimit;
import dev.warmpath.router.security.ApiKeys;
import dev.warmpath.router.security.ClientAccount;
import dev.warmpath.router.security.Secrets;
import io.vertx.core.AsyncResult;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request that a gateway asks for: its body is collected, an engine found and named, the body
 * given back, and the engine's answer looked through on its way to the client. What is reserved at
 * the engine is given back exactly once, whatever happens.
 *
 * <p>Confined to its event loop.
 */
final class Picking implements GrpcCall.Listener, RoutedRequest.Listener {

  /*
   *   HEAD ──▶ BODY ──▶ PLACING ──▶ PLACED ──▶ OVER
   *     └──────────────▲ no body      │          ▲
   *                                   └──────────┘ the answer's last piece, or the end of the call
   *
   *   state     holds                                     what limits its time
   *   HEAD      nothing                                   nothing: no request has come
   *   BODY      room for what came                        silence (request-body-ms)
   *   PLACING   the body, what RoutedRequest says         what RoutedRequest says
   *   PLACED    an assignment; the body until it is       total-ms
   *             given back
   *   OVER      nothing                                   nothing: the gateway ends the call
   *
   * Pieces of the answer that come when it is OVER still go back: the client gets them.
   *
   * How bodies come is up to the gateway, and told in its first message:
   *   full duplex   the head's answer waits for the pick; every piece is given back by us
   *   whole         the head is answered at once, the pick goes with the body, which Envoy keeps
   *   none          the pick is made by the head, without a prompt
   * Of an answer that Envoy keeps or sends by itself, nothing is given back.
   *
   * Before the answer's head nobody but the client ends a call: what fails on the way to the engine
   * is an answer of Envoy's own (503), and is shown here as one of the engine.
   */

  private enum State {
    HEAD,
    BODY,
    PLACING,
    PLACED,
    OVER
  }

  /** What the pickings of one event loop share. */
  record Shared(
      ProxyContext proxy,
      ClientConnections connections,
      PickerMetrics metrics,
      Endpoints endpoints,
      RequestIds ids,
      RoutedRequest.Loop loop,
      Set<Picking> open) {}

  private static final Logger LOG = LoggerFactory.getLogger(Picking.class);

  /** Envoy advises pieces of 64 KiB with what is around them; llm-d cuts there too. */
  private static final int PIECE_BYTES = 62_000;

  private static final int MESSAGE_BYTES_BESIDES_BODY = 1 << 20;
  private static final int CLIENT_GONE_STATUS = 499;
  private static final int UNAVAILABLE = 503;
  private static final String UPSTREAM_TIME = "x-envoy-upstream-service-time";
  private static final int TOO_MANY_REQUESTS = 429;
  private static final String DROP_REASON = "x-llm-d-request-dropped-reason";
  private static final String PREFILLER = "x-prefiller-host-port";
  private static final String CACHE_SOURCE = "x-kv-cache-source-host-port";
  private static final String ASKED_ENDPOINTS = "test-epp-endpoint-selection";
  private static final String TOLD_ENDPOINT = "x-conformance-test-served-endpoint";
  private static final Set<Route.Page> PICKED_PAGES =
      Set.of(Route.Page.MODELS, Route.Page.MODEL, Route.Page.HEALTH);

  private final Shared shared;
  private final ProxyContext proxy;
  private final GrpcCall call;

  /** Whether its connection was opened while new ones are refused. */
  private final boolean isOnLateConnection;

  private final TimeLimit limit = new TimeLimit();

  private State state = State.HEAD;
  private Modes modes = Modes.USUAL;
  private @Nullable RoutedRequest routed;
  private @Nullable RequestBody body;
  private MultiMap requestHeaders = MultiMap.caseInsensitiveMultiMap();

  /** Whether the pick is made by the head alone. */
  private boolean headOnly;

  private boolean bodyEnded;
  private boolean hasTrailers;
  private boolean isDecoded;
  private @Nullable Assignment assignment;
  private String picked = "";

  /** What of the request's body is still to be given back. */
  private byte @Nullable [] echo;

  private int echoed;
  private int status = CLIENT_GONE_STATUS;
  private @Nullable AnswerWatch watch;

  /** Puts the client's name of the model back into the answer; null if there is nothing to do. */
  private @Nullable ClientModel model;

  private boolean answering;

  /** Whether the engine that computes the prompt is done. */
  private boolean prefilled;

  private boolean isOfEngine;

  /** The gateway sends no more, and is owed the pick. */
  private boolean isLastAsked;

  private boolean closed;

  Picking(Shared shared, HttpServerRequest request) {
    this.shared = shared;
    this.proxy = shared.proxy();
    int longest =
        (int)
            Math.min(
                Integer.MAX_VALUE,
                (long) proxy.config().limits().bodyBytes() + MESSAGE_BYTES_BESIDES_BODY);
    this.call = new GrpcCall(request, longest, proxy.admission().bodies(), this);
    this.isOnLateConnection = shared.connections().isLate(request);
  }

  void begin() {
    shared.metrics().opened();
    shared.open().add(this);
    call.begin();
  }

  private long now() {
    return proxy.nanoClock().getAsLong();
  }

  /** Does what is due for its time limits. */
  void look(long nowNanos) {
    RoutedRequest request = routed;
    try {
      if (limit.isOver(nowNanos)) {
        limit.expire();
      } else if (state == State.PLACING && request != null && request.isLate(nowNanos)) {
        request.timeOut();
      }
    } catch (RuntimeException | Error e) {
      failed(e);
    }
  }

  @Override
  public void message(byte[] bytes) throws Wire.MalformedException {
    ExtProc.Request message = ExtProc.Request.read(bytes);
    Kind kind = message.kind();
    if (kind == null) {
      shared.metrics().countError("unknown_message");
      return;
    }
    switch (kind) {
      case REQUEST_HEADERS -> head(message);
      case REQUEST_BODY -> piece(message);
      case REQUEST_TRAILERS -> trailers();
      case RESPONSE_HEADERS -> answerHead(message);
      case RESPONSE_BODY -> answerPiece(message);
      case RESPONSE_TRAILERS -> {
        byte[] rest = named(new byte[0], true);
        if (rest.length > 0) {
          call.send(ExtProc.piece(Kind.RESPONSE_BODY, rest, 0, rest.length, false));
        }
        call.send(ExtProc.trailers(kind));
        answered();
      }
    }
  }

  private void head(ExtProc.Request message) throws Wire.MalformedException {
    if (state != State.HEAD) {
      throw new Wire.MalformedException("a second head of a request");
    }
    modes = message.modes() == null ? Modes.USUAL : message.modes();
    if (!modes.request().isRead()) {
      shared.metrics().countError("body_mode");
      call.close(
          GrpcCall.Status.FAILED_PRECONDITION,
          "request_body_mode must be FULL_DUPLEX_STREAMED, BUFFERED or NONE");
      end();
      return;
    }
    requestHeaders = message.headers();
    String method = Objects.requireNonNullElse(requestHeaders.get(":method"), "GET");
    String uri = Objects.requireNonNullElse(requestHeaders.get(":path"), "/");
    int query = uri.indexOf('?');
    String path = query < 0 ? uri : uri.substring(0, query);
    Route route = proxy.routes().find(path).orElse(null);
    ApiKeys keys = proxy.admission().keys();
    ClientAccount client = keys == null ? null : client(keys);
    Set<String> among = among(message);
    ApiError refusal = refusal(route, method, keys != null, client, among);
    if (refusal != null || route == null) {
      ApiError error = refusal == null ? ApiError.internal() : refusal;
      decline(error, ApiError.Form.of(route), method, path);
      return;
    }
    long declared = RequestBody.declaredBytes(requestHeaders.get(HttpHeaders.CONTENT_LENGTH));
    RequestBody collected =
        new RequestBody(proxy.admission().bodies(), proxy.config().limits().bodyBytes(), declared);
    body = collected;
    routed =
        new RoutedRequest(
            proxy,
            shared.loop(),
            new RoutedRequest.Head(
                route,
                method,
                path,
                requestHeaders,
                client,
                among,
                proxy.config().picker().routingSidecar()),
            shared.ids().accept(requestHeaders.get(RequestIds.HEADER)),
            collected,
            this);
    state = State.BODY;
    isDecoded = ContentCoding.of(requestHeaders) != ContentCoding.IDENTITY;
    if (ContentCoding.of(requestHeaders) == ContentCoding.OTHER) {
      refused(ApiError.unsupportedCoding());
    } else if (collected.isDeclaredTooLarge()) {
      refused(ApiError.tooLarge(proxy.config().limits().bodyBytes()));
    } else if (message.endOfStream() || modes.request() == BodyMode.NONE) {
      headOnly = true;
      bodyEnded = message.endOfStream();
      place();
    } else {
      limit.start(
          proxy.config().timeouts().requestBodyMs(), now(), () -> refused(ApiError.bodyTimeout()));
      if (modes.request().isWhole()) {
        call.send(ExtProc.head(Kind.REQUEST_HEADERS, new Mutation()));
      }
    }
  }

  private @Nullable ClientAccount client(ApiKeys keys) {
    String bearer = Secrets.bearer(requestHeaders.get(HttpHeaders.AUTHORIZATION));
    return keys.find(bearer == null ? requestHeaders.get("x-api-key") : bearer);
  }

  /** Names of the replicas that the gateway allows; null for all. */
  private @Nullable Set<String> among(ExtProc.Request message) {
    List<String> hint = message.subset();
    Set<String> among = hint == null ? null : shared.endpoints().replicas(hint);
    String asked =
        proxy.config().picker().conformance() ? requestHeaders.get(ASKED_ENDPOINTS) : null;
    if (asked == null) {
      return among;
    }
    Set<String> both = new HashSet<>(shared.endpoints().replicas(ExtProc.endpoints(asked)));
    if (among != null) {
      both.retainAll(among);
    }
    return both;
  }

  /** Why a request is refused by its head; null if it is let in. */
  private @Nullable ApiError refusal(
      @Nullable Route route,
      String method,
      boolean needsKey,
      @Nullable ClientAccount client,
      @Nullable Set<String> among) {
    if (route == null || (route.page() != null && !PICKED_PAGES.contains(route.page()))) {
      return ApiError.notFound("There is no such path here.");
    }
    String uri = Objects.requireNonNullElse(requestHeaders.get(":path"), "/");
    if (uri.contains("..") || uri.toLowerCase(Locale.ROOT).contains("%2e")) {
      return ApiError.notFound("There is no such path here.");
    }
    if (requestHeaders.contains(HttpHeaders.UPGRADE)) {
      return ApiError.postRequired();
    }
    if (!route.takes(method)) {
      return ApiError.methodNotAllowed(route.allowed());
    }
    if (needsKey && route.needsKey()) {
      if (client == null) {
        return ApiError.unauthorized();
      }
      ClientAccount.Answer answer =
          route.page() == null ? client.request(now()) : ClientAccount.Answer.ADMITTED;
      if (!answer.isAdmitted()) {
        return ApiError.of(answer);
      }
    }
    if (among != null && among.isEmpty()) {
      return ApiError.noCandidate(DispatchResult.Cause.NO_REPLICA, null);
    }
    Lifecycle lifecycle = proxy.admission().lifecycle();
    if (isOnLateConnection) {
      return ApiError.shuttingDown();
    }
    if (proxy.admission().heap().isFull()) {
      return ApiError.heapFull();
    }
    return lifecycle.enter() ? null : ApiError.overloaded("it serves all the requests it may");
  }

  /** Refuses a request by its head. */
  private void decline(ApiError error, ApiError.Form form, String method, String path) {
    proxy.metrics().countRejection(error.code());
    String id = shared.ids().accept(requestHeaders.get(RequestIds.HEADER));
    Decision.Request asked = new Decision.Request(id, method, path, null, null, null);
    proxy.logs().accessed(Decision.declined(asked, statusOf(error), error.code()));
    state = State.OVER;
    answerAtOnce(error, form);
  }

  private void piece(ExtProc.Request message) {
    if (bodyEnded || modes.request() == BodyMode.NONE) {
      // Envoy 1.35 to 1.37 sends the end of a body above 1 MB twice
      shared.metrics().countError("piece_after_end");
      return;
    }
    bodyEnded = message.endOfStream();
    if (state != State.BODY) {
      return;
    }
    switch (Objects.requireNonNull(body).add(Buffer.buffer(message.body()))) {
      case TAKEN -> limit.flowed(message.body().length, now());
      case TOO_LARGE -> {
        refused(ApiError.tooLarge(proxy.config().limits().bodyBytes()));
        return;
      }
      case NO_ROOM -> {
        refused(ApiError.noRoom());
        return;
      }
    }
    if (bodyEnded || modes.request().isWhole()) {
      place();
    }
  }

  /** Trailers end a body of which no piece did. */
  private void trailers() {
    if (state == State.BODY) {
      hasTrailers = true;
      place();
    } else if (state == State.PLACED && echo == null) {
      call.send(ExtProc.trailers(Kind.REQUEST_TRAILERS));
    } else if (state == State.PLACING || state == State.PLACED) {
      hasTrailers = true;
    }
  }

  private void place() {
    state = State.PLACING;
    limit.stop();
    Objects.requireNonNull(routed).place();
  }

  @Override
  public void placed(Assignment to) {
    assignment = to;
    state = State.PLACED;
    limit.start(proxy.config().timeouts().totalMs(), now(), this::lastTooLong);
    String endpoint = shared.endpoints().known(to.replica());
    if (endpoint != null) {
      answer(to, endpoint);
      return;
    }
    shared
        .endpoints()
        .of(to.replica())
        .onComplete(found -> {
          try {
            resolved(to, found);
          } catch (RuntimeException | Error e) {
            failed(e);
          }
        });
  }

  private void resolved(Assignment to, AsyncResult<String> found) {
    if (state != State.PLACED) {
      return;
    }
    if (found.succeeded()) {
      answer(to, found.result());
    } else {
      LOG.warn("{} has no address", to.replica(), found.cause());
      assignment = null;
      to.finished(Outcome.FAILED);
      refused(ApiError.noCandidate(DispatchResult.Cause.DOWN, null));
    }
  }

  /** Names the endpoint, and gives the body back. */
  private void answer(Assignment to, String endpoint) {
    RoutedRequest request = Objects.requireNonNull(routed);
    if (prefersCached() && !holdsSome(to)) {
      refused(ApiError.notCached());
      return;
    }
    shared.metrics().count(Pick.PICKED);
    picked = endpoint;
    request.dispatched(to);
    request.sending();
    String endpoints = endpoints(to, endpoint);
    Mutation changes = changes(to, endpoints);
    boolean isTold = proxy.config().picker().routingSidecar();
    byte[] whole = isTold ? request.bodyBehindSidecar(to) : request.bodyFor(to);
    boolean isOfBody = modes.request().isWhole() && !headOnly;
    if (!headOnly && !isOfBody) {
      tellLength(changes, whole.length);
    }
    boolean isOther =
        isDecoded
            || request.isRenamed()
            || (isOfBody && !Arrays.equals(whole, Objects.requireNonNull(body).whole()));
    boolean isChanged = isOfBody && isOther;
    Kind kind = isOfBody ? Kind.REQUEST_BODY : Kind.REQUEST_HEADERS;
    call.send(ExtProc.pick(kind, changes, endpoints, isChanged ? whole : null));
    if (modes.request() == BodyMode.FULL_DUPLEX_STREAMED && !headOnly) {
      echo = whole;
      giveBack();
    } else {
      echoEnded();
    }
  }

  /** Envoy drops it; agentgateway refuses a body of another length than the head has announced. */
  private void tellLength(Mutation changes, int bytes) {
    String announced = requestHeaders.get(HttpHeaders.CONTENT_LENGTH);
    if (announced != null && RequestBody.declaredBytes(announced) != bytes) {
      changes.set("content-length", Integer.toString(bytes));
    }
  }

  /** As llm-d's coordinator asks, whose other way is to have the prompt computed elsewhere. */
  private boolean prefersCached() {
    for (String header : requestHeaders.getAll("prefer")) {
      for (String preference : header.split(",", -1)) {
        int parameters = preference.indexOf(';');
        String token = parameters < 0 ? preference : preference.substring(0, parameters);
        if (token.strip().equalsIgnoreCase("if-available")) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean holdsSome(Assignment to) {
    Prediction prediction = to.choice().prediction();
    return prediction.predicts() && prediction.cachedTokens() > 0;
  }

  /** The endpoint, and those that are tried after it if Envoy may. */
  private String endpoints(Assignment to, String endpoint) {
    int most = proxy.config().picker().endpoints();
    PreparedRequest request = Objects.requireNonNull(routed).prepared();
    if (most <= 1 || request == null || to.replica().ranks() > 1 || to.isForItAlone()) {
      return endpoint;
    }
    Set<String> named = new HashSet<>(Set.of(to.replica().name()));
    StringBuilder list = new StringBuilder(endpoint);
    for (int i = 1; i < most; i++) {
      Replica next = proxy.dispatcher().next(request, named);
      if (next == null) {
        break;
      }
      named.add(next.name());
      String other = next.ranks() > 1 ? null : shared.endpoints().known(next);
      if (other != null) {
        list.append(',').append(other);
      }
    }
    return list.toString();
  }

  /** What changes in the request's head, which are the proxy's own rules. */
  private Mutation changes(Assignment to, String endpoints) {
    Mutation changes = new Mutation();
    changes.set(ExtProc.DESTINATION, endpoints);
    Set<String> set = new HashSet<>(Set.of(ExtProc.DESTINATION));
    if (to.replica().ranks() > 1) {
      String rank = Integer.toString(to.replica().headerRank(to.dpRank()));
      changes.set(Headers.RANK, rank);
      set.add(Headers.RANK);
    }
    if (proxy.config().picker().routingSidecar()) {
      tellSidecar(to, changes, set);
    }
    String own = proxy.upstreams().of(to.replica()).authorization();
    if (own != null) {
      changes.set("authorization", own);
      set.add("authorization");
    }
    RequestTrace trace = Objects.requireNonNull(routed).trace();
    if (trace != null) {
      trace.trying(
          to.choice(),
          (name, value) -> {
            changes.set(name, value);
            set.add(name);
          });
    }
    for (String name : Headers.notUpwards(requestHeaders, proxy.passesCredentials(own))) {
      boolean isOfUnreadBody =
          modes.request() == BodyMode.NONE && name.equalsIgnoreCase("content-encoding");
      if (!set.contains(name) && !isOfUnreadBody) {
        changes.remove(name);
      }
    }
    return changes;
  }

  /** What has no address yet is not told: the engine computes it then. */
  private void tellSidecar(Assignment to, Mutation changes, Set<String> set) {
    Assignment computes = to.prefill();
    String prefiller = computes == null ? null : shared.endpoints().known(computes.replica());
    EngineState source = to.source();
    String from =
        source == null || source.replica().ranks() > 1 // the header tells no rank
            ? null
            : shared.endpoints().known(source.replica());
    if (prefiller != null) {
      changes.set(PREFILLER, prefiller);
      set.add(PREFILLER);
    } else if (computes != null) {
      computes.finished(Outcome.CANCELLED);
      prefilled = true;
    }
    if (from != null) {
      changes.set(CACHE_SOURCE, from);
      set.add(CACHE_SOURCE);
    } else if (source != null) {
      to.untold();
    }
  }

  /** Gives back as much of the body as the gateway takes. */
  private void giveBack() {
    byte[] whole = echo;
    if (whole == null || call.isOver()) {
      return;
    }
    boolean isLast = false;
    while (!isLast) {
      if (call.isFull()) {
        call.awaitRoom();
        return;
      }
      int to = Math.min(whole.length, echoed + PIECE_BYTES);
      isLast = to == whole.length;
      call.send(ExtProc.piece(Kind.REQUEST_BODY, whole, echoed, to, isLast && !hasTrailers));
      echoed = to;
    }
    echo = null;
    if (hasTrailers) {
      call.send(ExtProc.trailers(Kind.REQUEST_TRAILERS));
    }
    echoEnded();
  }

  private void echoEnded() {
    Objects.requireNonNull(routed).dropBody();
    if (isLastAsked) {
      halfClosed();
    }
  }

  @Override
  public void refused(ApiError error) {
    if (state == State.OVER) {
      return;
    }
    RoutedRequest request = Objects.requireNonNull(routed);
    request.rejected(error);
    giveUp(Outcome.CANCELLED);
    over(statusOf(error), ResponseEnd.COMPLETE);
    answerAtOnce(error, request.errors());
  }

  private void answerAtOnce(ApiError error, ApiError.Form form) {
    shared.metrics().count(Pick.REFUSED);
    shared.metrics().countImmediate(error.code());
    Mutation headers = new Mutation();
    error.headers(headers::set);
    String reason = dropReason(error);
    if (reason != null) {
      headers.set(DROP_REASON, reason);
    }
    call.send(ExtProc.immediate(statusOf(error), headers, error.json(form), error.code()));
    call.close(GrpcCall.Status.OK, "");
    end();
  }

  /** Gateways of the protocol expect 429 where a fleet is full, not where there is none. */
  private int statusOf(ApiError error) {
    return switch (error.code()) {
      case "overloaded" -> TOO_MANY_REQUESTS;
      case "queue_timeout" -> isAnyoneUp() ? TOO_MANY_REQUESTS : UNAVAILABLE;
      default -> error.status();
    };
  }

  private boolean isAnyoneUp() {
    return proxy.pages().replicasUp() > 0;
  }

  private @Nullable String dropReason(ApiError error) {
    return switch (error.code()) {
      case "no_replica" -> "rejected-no-endpoints";
      case "overloaded", "heap_full" -> "rejected-saturated";
      case "queue_timeout" -> isAnyoneUp() ? "rejected-ttl-expired" : "rejected-no-endpoints";
      case "evicted" -> "evicted";
      case "shutting_down" -> "rejected-shutting-down";
      default -> null;
    };
  }

  /** Before an answer the gateway gives one of ours; after that it can only break off. */
  @Override
  public void evicted(ApiError why) {
    if (answering) {
      cut(GrpcCall.Status.UNAVAILABLE);
    } else {
      refused(why);
    }
  }

  @Override
  public void failed(Throwable bug) {
    LOG.error("a request failed", bug);
    if (state == State.BODY || state == State.PLACING) {
      refused(ApiError.internal());
    } else {
      cut(GrpcCall.Status.INTERNAL);
    }
  }

  private void answerHead(ExtProc.Request message) {
    Mutation changes = new Mutation();
    if (state == State.PLACED && !answering) {
      answering = true;
      served(message.served());
      status = number(message.headers().get(":status"));
      isOfEngine = message.headers().contains(UPSTREAM_TIME);
      Assignment by = assignment;
      if (by != null) {
        String contentType =
            Objects.requireNonNullElse(message.headers().get(HttpHeaders.CONTENT_TYPE), "");
        RoutedRequest request = Objects.requireNonNull(routed);
        watch = new AnswerWatch(request, by, status, contentType);
        if (modes.response() == BodyMode.FULL_DUPLEX_STREAMED) {
          model =
              request.clientModel(contentType, message.headers().get(HttpHeaders.CONTENT_ENCODING));
        }
        if (model != null && message.headers().contains(HttpHeaders.CONTENT_LENGTH)) {
          changes.remove("content-length"); // it will be another one
        }
        if (status == 408 || status == TOO_MANY_REQUESTS || status >= 500) {
          AnswerWatch.rest(message.headers().get(HttpHeaders.RETRY_AFTER), by);
        }
        Headers.addOwn(proxy.config().headers(), by, changes::set);
      }
    }
    if (proxy.config().picker().conformance()) {
      String by = message.served();
      changes.set(TOLD_ENDPOINT, by == null ? picked : by);
    }
    call.send(ExtProc.head(Kind.RESPONSE_HEADERS, changes));
    if (message.endOfStream()) {
      answered();
    }
  }

  /**
   * Another endpoint of the list may have answered: the first could not be reached, and the request
   * is counted at the other one.
   */
  private void served(@Nullable String endpoint) {
    Assignment first = assignment;
    PreparedRequest request = Objects.requireNonNull(routed).prepared();
    if (endpoint == null || endpoint.equals(picked) || first == null || request == null) {
      return;
    }
    shared.metrics().count(Pick.MOVED);
    assignment = null;
    first.finished(Outcome.FAILED);
    for (Replica there : shared.endpoints().at(endpoint)) {
      DispatchResult moved =
          proxy.dispatcher().assign(request.only(Set.of(there.name())), Set.of());
      if (moved instanceof Assignment taken) {
        taken.untold();
        assignment = taken;
        Objects.requireNonNull(routed).dispatched(taken);
        return;
      }
    }
  }

  private static int number(@Nullable String text) {
    try {
      return text == null ? 200 : Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return 502;
    }
  }

  private void answerPiece(ExtProc.Request message) {
    byte[] bytes = message.body();
    if (state == State.PLACED && bytes.length > 0) {
      look(bytes);
    }
    if (modes.response() == BodyMode.FULL_DUPLEX_STREAMED) {
      byte[] given = named(bytes, message.endOfStream());
      call.send(ExtProc.piece(Kind.RESPONSE_BODY, given, 0, given.length, message.endOfStream()));
    } else {
      call.send(ExtProc.kept(Kind.RESPONSE_BODY));
    }
    if (message.endOfStream()) {
      answered();
    } else if (call.isFull()) {
      if (watch != null) {
        watch.paused();
      }
      call.awaitRoom();
    }
  }

  /** A piece of the answer as the client gets it. */
  private byte[] named(byte[] bytes, boolean isLast) {
    ClientModel back = model;
    if (back == null) {
      return bytes;
    }
    Buffer given = Buffer.buffer(back.restore(bytes));
    return (isLast ? given.appendBytes(back.rest()) : given).getBytes();
  }

  private void look(byte[] bytes) {
    Assignment by = assignment;
    AnswerWatch answer = watch;
    if (by == null || answer == null) {
      return;
    }
    long now = now();
    if (status < 500) {
      by.responded(now);
      by.answered();
    }
    if (answer.feed(bytes, now)) {
      prefilled(by);
    }
  }

  /** The prompt has been computed, if at another engine. */
  private void prefilled(Assignment by) {
    Assignment computes = by.prefill();
    if (computes != null && !prefilled) {
      prefilled = true;
      computes.firstToken();
      computes.finished(Outcome.COMPLETED);
      proxy.metrics().countSplit("handed_over", computes, by);
    }
  }

  /** The engine's answer is over. */
  private void answered() {
    if (state != State.PLACED || !answering) {
      return;
    }
    Assignment by = assignment;
    if (by != null) {
      if (status < 500) {
        by.answered();
      }
      if (status < 400) {
        prefilled(by);
      }
      if (watch != null) {
        watch.report(by.prefill() == null);
      }
    }
    // Envoy's own answers lack the time that an engine took
    boolean isOfEnvoy = status == UNAVAILABLE && !isOfEngine;
    giveUp(isOfEnvoy ? Outcome.FAILED : AnswerWatch.outcome(status));
    over(status, ResponseEnd.COMPLETE);
  }

  private void giveUp(Outcome outcome) {
    Assignment by = assignment;
    assignment = null;
    if (by != null) {
      by.finished(outcome);
    }
  }

  /** Notes the end of the request, once. */
  private void over(int endStatus, ResponseEnd ending) {
    state = State.OVER;
    limit.stop();
    RoutedRequest request = Objects.requireNonNull(routed);
    try {
      request.ended(endStatus, ending);
    } finally {
      request.drop();
      proxy.admission().lifecycle().leave();
    }
  }

  private void lastTooLong() {
    giveUp(Outcome.CANCELLED);
    over(status, ResponseEnd.CUT_OFF);
    call.close(GrpcCall.Status.UNAVAILABLE, "timeouts.total-ms is over");
    end();
  }

  /** Ends it before its time. */
  void cut(GrpcCall.Status why) {
    if (state != State.OVER && routed != null) {
      giveUp(Outcome.CANCELLED);
      over(status, ResponseEnd.CUT_OFF);
    }
    call.close(why, "");
    end();
  }

  /** What an engine answers only goes through. */
  @Override
  public boolean isBounded() {
    return state == State.HEAD || state == State.BODY;
  }

  @Override
  public void noRoom() {
    if (state == State.BODY) {
      refused(ApiError.noRoom());
    }
  }

  @Override
  public void drained() {
    giveBack();
  }

  @Override
  public void halfClosed() {
    if (state == State.PLACING || (state == State.PLACED && (picked.isEmpty() || echo != null))) {
      isLastAsked = true;
      return;
    }
    leave();
    call.close(GrpcCall.Status.OK, "");
  }

  @Override
  public void gone() {
    leave();
  }

  @Override
  public void malformed(String why) {
    LOG.debug("a gateway sent what cannot be read: {}", why);
    shared.metrics().countError("malformed");
  }

  /** The gateway ends the call: the answer was over before, or never will be. */
  private void leave() {
    if (state != State.OVER && routed != null) {
      if (answering && modes.response() == BodyMode.NONE) {
        answered(); // its body does not come here
      } else {
        if (picked.isEmpty()) {
          shared.metrics().count(Pick.LEFT);
        }
        giveUp(Outcome.CANCELLED);
        over(status, ResponseEnd.CLIENT_GONE);
      }
    }
    end();
  }

  private void end() {
    if (!closed) {
      closed = true;
      state = State.OVER;
      echo = null;
      RoutedRequest request = routed;
      if (request != null) {
        request.drop();
      }
      shared.open().remove(this);
      shared.metrics().closed();
    }
  }
}
