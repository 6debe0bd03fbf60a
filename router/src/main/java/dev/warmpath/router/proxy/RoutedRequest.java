package dev.warmpath.router.proxy;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchResult;
import dev.warmpath.router.dispatch.DispatchResult.NoCandidate;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.RoutingHints;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.logs.Decision;
import dev.warmpath.router.logs.PromptPieces;
import dev.warmpath.router.logs.RequestTrace;
import dev.warmpath.router.logs.Tracing;
import dev.warmpath.router.prompt.BodyFields;
import dev.warmpath.router.prompt.LoopBudget;
import dev.warmpath.router.prompt.PromptPool;
import dev.warmpath.router.prompt.ReadRequest;
import dev.warmpath.router.prompt.RequestFields;
import dev.warmpath.router.security.ClientAccount;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request on its way to an engine, and the record of it, whether the proxy passes it on or Envoy,
 * which asks the endpoint picker. Its body is decoded, its prompt tokenized, its client's quota
 * judged, and an engine reserved, for which it may have to wait.
 *
 * <p>Confined to its event loop, except {@link #decide} and {@link #leaveQueue}, which other
 * threads may run, and which hand over to it.
 */
public final class RoutedRequest {

  /*
   *   NEW ──▶ DECODING ──▶ READING ───────────────▶ SETTLED
   *    └──────────────────▲   │ all full              ▲
   *                           └────────▶ QUEUED ──────┘ has its turn
   *
   *   state       holds                                           what limits its time
   *   DECODING    room for what a compressed body stands for      request-body-ms
   *   READING     a ticket of the prompt pool, which runs         deadline-ms, then ten times that
   *               decide(), a short prompt's at once
   *   QUEUED      a place in the queue                            queue.timeout-ms
   *   SETTLED     nothing
   *
   * It is settled by exactly one call of the listener's placed(), refused() or failed(), or by
   * drop(). An engine that is found after that is given back at once. A place in the queue can have
   * its turn before it was told: then READING becomes SETTLED.
   */

  private enum State {
    NEW,
    DECODING,
    READING,
    QUEUED,
    SETTLED
  }

  /** Who has the request. Called on its event loop. */
  public interface Listener {

    /** Its prompt was read. It may have been placed before. */
    default void read() {}

    /** It has an engine, which the listener has to finish. */
    void placed(Assignment assignment);

    /** It gets none. */
    void refused(ApiError error);

    /** It is ended, whatever has come of it, for one of higher priority. */
    void evicted(ApiError why);

    /** A bug of ours. */
    void failed(Throwable bug);
  }

  /**
   * The head of a request.
   *
   * @param path the whole path, without a query
   * @param client whose API key it came with, or null
   * @param among names of the replicas that alone may get it; null for any
   * @param splits whether one engine may compute its prompt and another one its answer
   */
  public record Head(
      Route route,
      String method,
      String path,
      MultiMap headers,
      @Nullable ClientAccount client,
      @Nullable Set<String> among,
      boolean splits) {}

  /**
   * The event loop that a request is confined to.
   *
   * @param prompts how much of its time they may take
   */
  public record Loop(Context context, LoopBudget prompts) {}

  private final ProxyContext proxy;
  private final Loop loop;
  private final Head head;
  private final String id;
  private final RequestBody body;
  private final Listener listener;
  private final long startNanos;
  private final RequestQuota quota;
  private final TimeLimit limit = new TimeLimit();
  private final Timeline timeline = new Timeline(this::elapsedNanos);

  /** Null if the request is not traced. */
  private final @Nullable RequestTrace trace;

  /** The stored response that the request's path names, or null. */
  private final @Nullable String storedId;

  private State state = State.NEW;
  private DispatchResult.@Nullable Queued queued;

  /** When an engine was asked for; written before that by the thread that reads the prompt. */
  private long askedNanos;

  /** Decodes the body; or has. */
  private @Nullable Runnable decoding;

  private PromptPool.@Nullable Ticket ticket;
  private @Nullable PreparedRequest prepared;
  private @Nullable BlockChain pieces;
  private boolean hidesTransfers;

  /** Its end is noted. */
  private boolean over;

  /** How engines get it, if that is not as it came. */
  private ReadRequest.@Nullable Renamed renamed;

  /** Where the fields of the body lie; null where nothing is to be changed, or can be. */
  private @Nullable RequestFields fields;

  /**
   * @param id its name in logs
   * @param body where its body is collected, until {@link #place}
   */
  public RoutedRequest(
      ProxyContext proxy, Loop loop, Head head, String id, RequestBody body, Listener listener) {
    this.proxy = proxy;
    this.loop = loop;
    this.head = head;
    this.id = id;
    this.body = body;
    this.listener = listener;
    this.startNanos = proxy.nanoClock().getAsLong();
    this.quota = new RequestQuota(head.client(), proxy.nanoClock());
    this.storedId = Routes.storedId(head.path());
    Tracing tracing = proxy.tracing();
    this.trace =
        tracing == null
            ? null
            : tracing.accept(head.method(), head.route().path(), head.headers()::get);
  }

  /** Its body has come as a whole: finds an engine for it. */
  public void place() {
    ContentCoding coding = ContentCoding.of(head.headers());
    if (coding == ContentCoding.IDENTITY || body.isEmpty()) {
      readPrompt();
    } else {
      decode(coding);
    }
  }

  private boolean isSettled() {
    return state == State.SETTLED;
  }

  private void within(long limitMs, Runnable due) {
    limit.start(limitMs, proxy.nanoClock().getAsLong(), due);
  }

  /** Whether a time limit is over. */
  public boolean isLate(long nowNanos) {
    return limit.isOver(nowNanos);
  }

  /** Does what is due for it. */
  public void timeOut() {
    limit.expire();
  }

  private void later(Runnable work) {
    Handler<Void> guarded =
        v -> {
          try {
            work.run();
          } catch (RuntimeException | Error e) {
            failed(e);
          }
        };
    loop.context().runOnContext(guarded);
  }

  private void failed(Throwable bug) {
    settle();
    listener.failed(bug);
  }

  private void refuse(ApiError error) {
    if (!isSettled()) {
      settle();
      listener.refused(error);
    }
  }

  /** Replaces the body by what it stands for, which another thread finds out. */
  private void decode(ContentCoding coding) {
    state = State.DECODING;
    byte[] coded = body.whole();
    within(proxy.config().timeouts().requestBodyMs(), () -> refuse(ApiError.bodyTimeout()));
    Runnable work =
        () -> {
          try {
            RequestBody.Decoded decoded = RequestBody.decode(coding, coded, body);
            later(() -> decoded(decoded));
          } catch (IOException e) {
            later(() -> refuse(ApiError.undecodable(coding)));
          } catch (RuntimeException | Error e) {
            later(() -> failed(e));
          }
        };
    decoding = work;
    if (!proxy.prompts().execute(work)) {
      refuse(ApiError.unread());
    }
  }

  private void decoded(RequestBody.Decoded decoded) {
    decoding = null;
    if (isSettled()) {
      decoded.body().drop();
      return;
    }
    switch (decoded.taken()) {
      case TAKEN -> {
        body.become(decoded.body());
        readPrompt();
      }
      case TOO_LARGE -> refuse(ApiError.tooLarge(proxy.config().limits().bodyBytes()));
      case NO_ROOM -> refuse(ApiError.noRoom());
    }
  }

  private void readPrompt() {
    state = State.READING;
    timeline.bodyEnded();
    if (trace != null) {
      trace.tokenizing();
    }
    within(proxy.config().tokenizing().deadlineMs(), this::giveUpReading);
    RoutingHints hints =
        RoutingHeaders.of(proxy.config(), proxy.rules(), head.headers(), quota.client());
    List<String> types = head.headers().getAll(HttpHeaders.CONTENT_TYPE);
    String contentType = types.isEmpty() ? null : String.join(", ", types);
    byte[] whole = body.whole();
    Consumer<@Nullable ReadRequest> read = found -> decide(found, whole);
    RequestKind kind = head.route().kind();
    ticket =
        kind == null || BodyFields.isForm(contentType)
            ? proxy.prompts().readWithoutPrompt(whole, contentType, hints, read)
            : proxy.prompts().read(kind, whole, hints, promptsOnLoop(), read);
  }

  /** Null while others wait: who comes then looks through the queue, which may take its time. */
  private @Nullable LoopBudget promptsOnLoop() {
    return proxy.dispatcher().anybodyWaits() ? null : loop.prompts();
  }

  /** First the prompt is given up; if the rest cannot be read in ten times that, the request is. */
  private void giveUpReading() {
    if (ticket == null) {
      return;
    }
    if (ticket.giveUp(FallbackCause.DEADLINE)) {
      within(10L * proxy.config().tokenizing().deadlineMs(), this::giveUpReading);
    } else {
      refuse(ApiError.unread());
    }
  }

  /**
   * Judges a request that was read by its client's quota, and asks for an engine. Called once, on
   * the thread that read it; what throws here ends the request too.
   */
  private void decide(@Nullable ReadRequest read, byte[] came) {
    try {
      if (read == null) {
        ApiError refusal = ApiError.unread();
        later(() -> refuse(refusal));
        return;
      }
      byte[] whole = read.body(came);
      ReadRequest.Renamed other = read.renamed();
      renamed = other == null ? null : other.namesAlone();
      if (renamed != null) {
        later(() -> become(whole)); // before an engine can be told, which gets it
      }
      boolean hasKind = head.route().kind() != null;
      String stored = keepsResponses() ? read.previousResponse() : storedId;
      PreparedRequest request = toDispatch(read.request(), stored);
      BlockChain logged = proxy.logs().wantsPieces() ? PromptPieces.of(request) : null;
      boolean hides = mayHideTransfers(whole);
      boolean hasPairs = hasKind && proxy.dispatcher().transfers();
      boolean mayCap = hasKind && proxy.dispatcher().readsBack();
      RequestFields found = hasPairs || mayCap ? RequestFields.of(whole) : null;
      ApiError refused = refusal(read, request, stored);
      ApiError refusal =
          refused == null && hasPairs && found == null ? ApiError.noObject() : refused;
      boolean isSplittable = hasPairs && head.splits() && found != null && found.isForOneAnswer();
      PreparedRequest asked = isSplittable ? request.split() : request;
      if (!hasPairs && found != null && KvProtocol.isSteered(found)) {
        found = null; // the client knows better
      } else if (found != null) {
        asked = asked.capping();
      }
      prepared = asked; // all that before it asks: what waits may have its turn at once
      pieces = logged;
      fields = found;
      hidesTransfers = hides || (hasPairs && !passesTransfers());
      DispatchResult placed = ask(asked, refusal);
      later(() -> {
        if (over) {
          quota.over(timeline); // it was counted after the client had left
        }
        decided(refusal, placed);
      });
    } catch (RuntimeException | Error e) {
      later(() -> failed(e));
    }
  }

  private void become(byte[] whole) {
    if (!isSettled() && !body.become(whole)) {
      refuse(ApiError.noRoom());
    }
  }

  /** The request as it is dispatched: a stored response may be at one replica alone. */
  private PreparedRequest toDispatch(PreparedRequest read, @Nullable String stored) {
    PreparedRequest request = head.route().computes() ? read : read.withoutWork();
    String replica = stored == null ? null : proxy.admission().responses().replica(stored);
    Set<String> among = head.among();
    boolean isThere = replica != null && (among == null || among.contains(replica));
    return isThere ? request.only(Set.of(replica)) : request.only(among);
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
    return head.route().kind() != null
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
    boolean isGone =
        result instanceof NoCandidate && !Objects.equals(request.onlyReplicas(), head.among());
    return isGone ? proxy.dispatcher().admit(request.only(head.among()), this::leaveQueue) : result;
  }

  private static String word(@Nullable DispatchResult result) {
    if (result instanceof Assignment assignment) {
      return assignment.engine();
    }
    return result instanceof NoCandidate none ? none.cause().label() : "queued";
  }

  /** It left the queue; called on any thread. */
  private void leaveQueue(DispatchResult result) {
    later(() -> {
      if (state == State.READING) {
        timeline.queued(askedNanos);
      }
      queued = null;
      timeline.leaveQueue();
      if (trace != null) {
        trace.leftQueue();
      }
      proxy.metrics().recordQueueWait(elapsedNanos());
      settled(result);
    });
  }

  private void decided(@Nullable ApiError refusal, @Nullable DispatchResult placed) {
    ticket = null;
    listener.read();
    if (placed != null) {
      settled(placed);
    } else if (refusal != null) {
      refuse(refusal);
    }
  }

  private void settled(DispatchResult result) {
    if (isSettled()) {
      release(result);
    } else if (result instanceof Assignment assignment) {
      settle();
      listener.placed(assignment);
    } else if (result instanceof DispatchResult.Queued place) {
      queue(place);
    } else {
      refuse(noCandidate((NoCandidate) result));
    }
  }

  private ApiError noCandidate(NoCandidate none) {
    boolean isWhole = proxy.dispatcher().transfers() && prepared != null && !prepared.splittable();
    boolean isServedByPairsOnly =
        isWhole
            && none.cause() != DispatchResult.Cause.UNKNOWN_MODEL
            && proxy.dispatcher().engines().stream()
                .noneMatch(engine -> engine.replica().transfer().servesAlone());
    return isServedByPairsOnly
        ? ApiError.unsplittable()
        : ApiError.noCandidate(none.cause(), model());
  }

  /** It may have left the queue before its place in it was told. */
  private void queue(DispatchResult.Queued place) {
    if (state == State.READING) {
      state = State.QUEUED;
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
      refuse(ApiError.queueTimeout());
    }
  }

  private void settle() {
    state = State.SETTLED;
    limit.stop();
  }

  /** Lets go of all that it holds: no engine is wanted any more. */
  public void drop() {
    settle();
    if (decoding != null) {
      proxy.prompts().withdraw(decoding);
    }
    if (ticket != null) {
      ticket.drop();
    }
    if (queued != null) {
      queued.withdraw();
    }
    fields = null;
    body.drop();
  }

  /** An answer has begun: the body is not needed any more. */
  public void dropBody() {
    body.drop();
    fields = null;
  }

  /**
   * The body for an engine that serves the request alone.
   *
   * @return the body itself if there is nothing to change
   */
  public byte[] bodyFor(Assignment assignment) {
    EngineState source = assignment.source();
    RequestFields of = fields;
    boolean isTold = of != null && (assignment.capsLoads() || source != null);
    if (isTold && !body.takeRoomForTwo()) {
      assignment.untold();
      isTold = false;
    }
    if (of == null || !isTold) {
      // not a copy, since room was taken for one; nobody writes to it
      return KvProtocol.alone(body.whole(), of);
    }
    return source == null
        ? KvProtocol.capped(of)
        : KvProtocol.pulling(
            of,
            Handoff.id(proxy.random().nextLong()),
            Handoff.End.of(source.replica(), source.dpRank()));
  }

  /** The same for an engine whose side-car is told where to get the rest of the prompt. */
  public byte[] bodyBehindSidecar(Assignment assignment) {
    boolean caps = assignment.prefill() == null && assignment.source() == null;
    return caps ? bodyFor(assignment) : KvProtocol.alone(body.whole(), fields);
  }

  /** Notes the end of the request, once. */
  public void ended(int status, ResponseEnd ending) {
    over = true;
    proxy.metrics().countEnd(head.route(), status, ending, elapsedNanos());
    quota.over(timeline);
    if (trace != null) {
      trace.ended(status, timeline.outcome(status, ending));
    }
    Decision.Request asked =
        new Decision.Request(
            id,
            head.method(),
            head.route().path(),
            quota.name(),
            model(),
            prepared == null ? null : prepared.sessionKey());
    proxy.logs().ended(timeline.decision(asked, prepared, status, ending), prepared, pieces);
  }

  /** The router answers by itself, with this error. */
  public void rejected(ApiError error) {
    timeline.rejected(error.code());
    proxy.metrics().countRejection(error.code());
  }

  /** An engine is given the request. */
  public void dispatched(Assignment to) {
    timeline.dispatched(to);
    PreparedRequest request = prepared;
    if (request != null && proxy.config().queue().evict()) {
      Runnable end = () -> later(() -> evicted(to));
      proxy.dispatcher().evictable(to, request, end);
    }
  }

  /** It may have ended meanwhile, or be at another engine. */
  private void evicted(Assignment from) {
    if (!from.isOver()) {
      listener.evicted(ApiError.evicted());
    }
  }

  /** The engine is about to get it. */
  public void sending() {
    if (timeline.attempts() == 1) {
      proxy.metrics().recordRouting(timeline.routingNanos());
    }
  }

  public Route route() {
    return head.route();
  }

  /** The form in which the client expects errors. */
  public ApiError.Form errors() {
    return ApiError.Form.of(head.route());
  }

  String id() {
    return id;
  }

  RequestBody body() {
    return body;
  }

  Timeline timeline() {
    return timeline;
  }

  /** Null if the request is not traced. */
  public @Nullable RequestTrace trace() {
    return trace;
  }

  /** Null until it was read. */
  public @Nullable PreparedRequest prepared() {
    return prepared;
  }

  @Nullable String model() {
    return prepared == null ? null : prepared.model();
  }

  @Nullable RequestFields fields() {
    return fields;
  }

  /** Whether the client asked for a stream of events. */
  boolean isStreamed() {
    return prepared != null && prepared.streamed();
  }

  /** Whether the client gets the answer's {@code kv_transfer_params} empty. */
  boolean hidesTransfers() {
    return hidesTransfers;
  }

  /** Whether its engine is asked for another model than the client names. */
  public boolean isRenamed() {
    return renamed != null;
  }

  /**
   * What puts the client's model back into an answer of an engine that was asked for another one.
   *
   * @param contentType that of the answer, or "" if it has none
   * @return null where there is nothing to put back
   */
  public @Nullable ClientModel clientModel(String contentType, @Nullable String contentEncoding) {
    boolean isText = contentType.startsWith("text/event-stream") || contentType.contains("json");
    boolean isPlain = contentEncoding == null || contentEncoding.equals("identity");
    return renamed != null && isText && isPlain
        ? new ClientModel(renamed.given(), renamed.asked())
        : null;
  }

  /** Whether the answer is a stored response, which its replica keeps. */
  boolean keepsResponses() {
    return head.route().kind() == RequestKind.RESPONSES;
  }

  /** The answer has this id. */
  void keepResponseId(Assignment assignment, @Nullable String answerId) {
    if (keepsResponses()) {
      proxy.admission().responses().made(answerId, assignment.replica().name(), quota.name());
    }
  }

  /** Nanoseconds since its head came. */
  public long elapsedNanos() {
    return proxy.nanoClock().getAsLong() - startNanos;
  }
}
