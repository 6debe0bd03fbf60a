package dev.warmpath.router.proxy;

import dev.warmpath.router.config.RouterConfig.Timeouts;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.logs.RequestTrace;
import dev.warmpath.router.upstream.Upstream;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.RequestOptions;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One try of a request at one replica, from dispatch to the last byte. It finishes its assignment
 * exactly once, whatever happens, and takes the connection down whenever the replica could
 * otherwise go on working for nobody.
 *
 * <p>Confined to its event loop.
 */
final class Attempt {

  /*
   * before the first byte                 after it
   *   connect error, silence, end of the    broken stream, silence ─▶ breakOff: error event, close
   *   connection ─▶ exchange.retry, else    client gone            ─▶ abandon: reset upstream
   *   an error of our own                   last byte              ─▶ complete
   *   408/429/502/503/504 ─▶
   *   exchange.retry, else this answer
   *   goes down
   * The response's head is sent with its first byte, so until then a retry is possible. So it is
   * if the exchange has begun a stream meanwhile; then the replica's own head is not used, and what
   * is no stream (its refusal) is collected and becomes an error event.
   *
   * Silence is weak evidence: an answer that is not streamed has no byte before its last, and
   * engines hold back tool calls and preempt requests for minutes. So when a limit on silence is
   * over, what counts is what else shows of the replica (Replica.isAlive, isResponding):
   *                                 dead           alive                 it sends to others
   *   a stream before its first     retry, failed  504, no retry         wait
   *   byte (first-byte-ms)
   *   another answer before its     retry, failed  wait                  wait
   *   first byte (first-byte-ms)
   *   any answer after its first    break off,     wait                  wait
   *   byte (stream-idle-ms)         failed
   * A request that is not sent whole is not waited for: no replica can have begun it, so that it is
   * retried even if this one is alive. To wait is to look again soon. It ends with total-ms: an error, without a retry, that counts as
   * a failure only of a dead replica. A retry would do the same work twice, and a healthy engine
   * that many such requests find would be ejected.
   *
   * While the client reads too slowly the replica is paused, and its silence is not its fault: the
   * time limit is then the client's.
   *
   * The second leg of a request that is split over two engines (Exchange says how) is such an
   * attempt too; the first is a PrefillLeg. What could not be loaded is told by a 500, or by the
   * first event behind a 200: both are before the first byte (retryLoad).
   */

  /** Between two looks at a replica whose silence is over a limit. */
  private static final long LOOK_AGAIN_MS = 500;

  private static final String STREAM = "text/event-stream";
  private static final long UNKNOWN = Long.MIN_VALUE;
  private static final int FAILED_LOAD = 500;
  private static final int LONGEST_REFUSAL_BYTES = 1 << 16;
  private static final Set<Integer> RETRYABLE = Set.of(408, 429, 502, 503, 504);

  /** Of a proxy before the engine, which may have lost it, or its patience, within the request. */
  private static final Set<Integer> GATEWAY_ERRORS = Set.of(502, 504);

  private final Exchange exchange;
  private final ProxyContext proxy;
  private final Exchange.Loop loop;
  private final Assignment assignment;
  private final boolean loads;
  private final TimeLimit silence = new TimeLimit();
  private final TimeLimit total = new TimeLimit();

  private long sentNanos = UNKNOWN;
  private long computedNanos;
  private int prefillCached = Usage.ABSENT;
  private boolean over;
  private boolean sentWhole;
  private boolean begun;
  private boolean pausedOnce;
  private @Nullable HttpClientRequest upstream;
  private @Nullable HttpClientResponse answer;
  private @Nullable AnswerWatch watch;
  private @Nullable TransferParams hidden;
  private @Nullable ClientModel model;

  /** What came of a decode's first event. */
  private @Nullable Buffer firstEvent;

  /** What the replica says instead of a stream that the exchange has begun for it. */
  private @Nullable Buffer refusal;

  /**
   * @param loads whether it fetches what another engine has computed
   */
  Attempt(
      Exchange exchange,
      ProxyContext proxy,
      Exchange.Loop loop,
      Assignment assignment,
      boolean loads) {
    this.loads = loads;
    this.exchange = exchange;
    this.proxy = proxy;
    this.loop = loop;
    this.assignment = assignment;
  }

  void start(String requestId, Buffer body) {
    Timeouts limits = proxy.config().timeouts();
    limitSilence(limits.firstByteMs(), this::silent);
    total.start(limits.totalMs(), now(), this::totalOver);
    Future<HttpClientRequest> connecting =
        loop.client().request(traced(options(proxy, exchange, assignment, requestId)));
    Handler<AsyncResult<HttpClientRequest>> connected =
        tried -> {
          if (tried.failed()) {
            unreachable("connect");
          } else {
            send(tried.result(), body);
          }
        };
    connecting.onComplete(exchange.guarded(connected));
  }

  private void limitSilence(long limitMs, Runnable expired) {
    silence.start(limitMs, now(), expired);
  }

  private long now() {
    return proxy.nanoClock().getAsLong();
  }

  /** Whether a time limit is over. */
  boolean isLate(long nowNanos) {
    return silence.isOver(nowNanos) || total.isOver(nowNanos);
  }

  /** Does what is due for its time limits. */
  void timeOut(long nowNanos) {
    (silence.isOver(nowNanos) ? silence : total).expire();
  }

  private RequestOptions traced(RequestOptions options) {
    RequestTrace trace = exchange.trace();
    if (trace != null) {
      trace.trying(assignment.choice(), options.getHeaders()::set);
    }
    return options;
  }

  /** How a request goes up to the engine of an assignment. */
  static RequestOptions options(
      ProxyContext proxy, Exchange exchange, Assignment assignment, String requestId) {
    HttpServerRequest client = exchange.request();
    Replica replica = assignment.replica();
    Upstream upstream = proxy.upstreams().of(replica);
    String own = upstream.authorization();
    MultiMap headers = Headers.upwards(client.headers(), proxy.passesCredentials(own));
    if (own != null) {
      headers.set("authorization", own);
    }
    headers.set(RequestIds.HEADER, requestId);
    if (replica.ranks() > 1) {
      headers.set(Headers.RANK, Integer.toString(replica.headerRank(assignment.dpRank())));
    }
    return upstream
        .options()
        .setMethod(client.method())
        .setURI(exchange.uri())
        .setHeaders(headers)
        .setConnectTimeout(proxy.config().timeouts().connectMs());
  }

  private void send(HttpClientRequest request, Buffer body) {
    upstream = request;
    request.exceptionHandler(exchange.guarded(e -> broken())); // first, or a reset is logged
    if (over) {
      request.reset();
      return;
    }
    if (!isDecode()) {
      exchange.routed().sending();
    }
    sentNanos = now();
    Handler<AsyncResult<HttpClientResponse>> responded =
        sent -> {
          if (sent.failed()) {
            unreachable("no_response");
          } else {
            answered(sent.result());
          }
        };
    request.response().onComplete(exchange.guarded(responded));
    request.end(body).onSuccess(v -> sentWhole = true);
  }

  private void answered(HttpClientResponse found) {
    if (over) {
      return;
    }
    answer = found;
    if (isOwnAnswer() && !contentType(found).startsWith(STREAM)) {
      assignment.responded(now()); // a stream's head comes before the engine has the request
    }
    found.exceptionHandler(exchange.guarded(e -> broken())); // first, or a reset is logged
    if (found.statusCode() == FAILED_LOAD && loads && retryLoad()) {
      return;
    }
    if (RETRYABLE.contains(found.statusCode())) {
      AnswerWatch.rest(found.getHeader("retry-after"), assignment);
      if (isOwnAnswer()) {
        assignment.answered();
      }
      boolean lost = GATEWAY_ERRORS.contains(found.statusCode());
      Exchange.Failure failure = lost ? Exchange.Failure.LOST : Exchange.Failure.REFUSED;
      if (retry("status_" + found.statusCode(), outcome(), failure)) {
        return;
      }
    }
    if (exchange.isCommitted() && !isReadableStream(found)) {
      refusal = Buffer.buffer();
    } else {
      watch =
          new AnswerWatch(exchange.routed(), assignment, found.statusCode(), contentType(found));
      hidden = exchange.hidesTransfers() ? new TransferParams() : null;
      model =
          exchange.routed().clientModel(contentType(found), found.getHeader("content-encoding"));
    }
    found.handler(exchange.guarded(this::chunk));
    found.endHandler(exchange.guarded(v -> complete()));
  }

  /** A decode could not load what the prefill has computed: it says so with a 500. */
  private boolean retryLoad() {
    if (!exchange.retryLoad(assignment)) {
      return false;
    }
    finish(Outcome.CANCELLED);
    reset();
    return true;
  }

  /** Whether another engine computes the prompt. */
  private boolean isDecode() {
    return assignment.prefill() != null;
  }

  private static String contentType(HttpClientResponse found) {
    return Objects.requireNonNullElse(found.getHeader("content-type"), "");
  }

  /** Whether comments can stand between its events. */
  private static boolean isReadableStream(HttpClientResponse found) {
    return found.statusCode() == 200
        && contentType(found).startsWith(STREAM)
        && "identity"
            .equals(Objects.requireNonNullElse(found.getHeader("content-encoding"), "identity"));
  }

  /** Whether bytes of the replica's answer went down. */
  boolean hasBegun() {
    return begun;
  }

  /** Whether a comment may go down now, with the head of a stream before it if none was sent. */
  boolean letsKeepAlive() {
    HttpClientResponse found = answer;
    if (found == null || refusal != null) {
      return true;
    }
    return isReadableStream(found)
        && (exchange.isCommitted() || found.getHeader("content-length") == null)
        && Objects.requireNonNull(watch).scanner().betweenEvents();
  }

  private boolean retry(String cause, Outcome outcome, Exchange.Failure failure) {
    if (!exchange.retry(assignment, outcome, cause, failure)) {
      return false;
    }
    finish(outcome);
    reset();
    return true;
  }

  private void chunk(Buffer chunk) {
    if (over) {
      return;
    }
    long now = now();
    silence.restart(now);
    if (isOwnAnswer()) {
      assignment.responded(now);
    }
    if (refusal != null) {
      collect(refusal, chunk);
      return;
    }
    if (!begun && loads && isReadableStream(Objects.requireNonNull(answer))) {
      first(chunk, now);
    } else {
      pass(chunk, now);
    }
  }

  /**
   * Holds the beginning of a decode's stream until its first event is whole: what failed to load is
   * said there, behind a head that says 200.
   */
  private void first(Buffer chunk, long now) {
    firstEvent = firstEvent == null ? Buffer.buffer() : firstEvent;
    firstEvent.appendBuffer(chunk);
    StreamStart start = StreamStart.of(firstEvent.getBytes());
    if (start == StreamStart.UNKNOWN && firstEvent.length() < LONGEST_REFUSAL_BYTES) {
      return;
    }
    if (start == StreamStart.ERROR && retryLoad()) {
      return;
    }
    Buffer held = firstEvent;
    firstEvent = null;
    pass(held, now);
  }

  private void pass(Buffer chunk, long now) {
    if (!begun) {
      begin();
    }
    byte[] bytes = chunk.getBytes();
    scan(bytes, now);
    boolean isChanged = hidden != null && hidden.empty(bytes);
    HttpServerResponse down = exchange.response();
    if (model != null) {
      down.write(Buffer.buffer(model.restore(bytes)));
    } else {
      down.write(isChanged ? Buffer.buffer(bytes) : chunk);
    }
    exchange.wrote(now);
    if (down.writeQueueFull()) {
      pauseFor(down);
    }
  }

  private static void collect(Buffer into, Buffer chunk) {
    int room = LONGEST_REFUSAL_BYTES - into.length();
    into.appendBuffer(chunk, 0, Math.min(room, chunk.length()));
  }

  private void scan(byte[] chunk, long now) {
    boolean isFirst = Objects.requireNonNull(watch).feed(chunk, now);
    if (isFirst && loads && computedNanos != 0) {
      long nanos = now - Math.max(sentNanos, computedNanos);
      assignment.transferred(nanos / 1e6);
      proxy.metrics().recordLeg(ProxyMetrics.DECODE, nanos);
    }
  }

  private void pauseFor(HttpServerResponse down) {
    HttpClientResponse from = answer;
    if (from == null) {
      return;
    }
    pausedOnce = true;
    if (watch != null) {
      watch.paused();
    }
    from.pause();
    limitSilence(proxy.config().timeouts().streamIdleMs(), this::clientStalled);
    down.drainHandler(
        exchange.guarded(v -> {
          if (!over) {
            limitSilence(proxy.config().timeouts().streamIdleMs(), this::silent);
          }
          from.resume();
        }));
  }

  private void clientStalled() {
    breakOff(
        ApiError.upstream(408, "client_stalled", "The client read nothing for too long."),
        ResponseEnd.CUT_OFF,
        Outcome.CANCELLED);
  }

  /** The first byte goes down now, or nothing but the head. */
  private void begin() {
    HttpServerResponse down = exchange.response();
    begun = true;
    PrefillLeg leg = exchange.prefill();
    if (leg != null) {
      computedNanos = leg.doneNanos();
      prefillCached = leg.cachedTokens();
    }
    exchange.answerBegan();
    limitSilence(proxy.config().timeouts().streamIdleMs(), this::silent);
    down.setWriteQueueMaxSize(proxy.config().limits().clientBufferBytes());
    if (isOwnAnswer()) {
      assignment.answered();
    }
    if (!exchange.isCommitted()) {
      writeHead(Objects.requireNonNull(answer), down);
    }
  }

  private void writeHead(HttpClientResponse from, HttpServerResponse down) {
    down.setStatusCode(from.statusCode());
    String reason = Headers.reason(from.statusMessage());
    if (reason != null) {
      down.setStatusMessage(reason);
    }
    Headers.downwards(from.headers(), down.headers());
    Headers.addOwn(proxy.config().headers(), assignment, down::putHeader);
    if (model != null) {
      down.headers().remove("content-length");
    }
    if (!down.headers().contains("content-length")) {
      down.setChunked(true);
    }
  }

  /** Whether the engine answers, if only to refuse the request: no error of its own. */
  private boolean isOwnAnswer() {
    return answer != null && answer.statusCode() < 500;
  }

  private boolean isGood() {
    return answer != null && answer.statusCode() < 400;
  }

  private void complete() {
    if (over) {
      return;
    }
    if (refusal != null) {
      finish(outcome());
      int status = Objects.requireNonNull(answer).statusCode();
      exchange.endWith(ApiError.ofEngine(status, refusal.getBytes()), ResponseEnd.BROKEN_OFF);
      return;
    }
    if (firstEvent != null) {
      Buffer held = firstEvent;
      firstEvent = null;
      pass(held, now());
    }
    if (!begun) {
      begin();
    }
    byte[] rest = model == null ? new byte[0] : model.rest();
    if (rest.length > 0) {
      exchange.response().write(Buffer.buffer(rest));
    }
    reportUsage();
    PrefillLeg leg = exchange.prefill();
    if (leg != null && isGood()) {
      leg.settle(); // a short answer may overtake that of the prefill
    }
    finish(outcome());
    exchange.end(exchange.response().getStatusCode(), ResponseEnd.COMPLETE);
    exchange.response().end();
  }

  private void reportUsage() {
    if (watch == null || !isGood()) {
      return;
    }
    Usage reported = watch.scanner().usage();
    if (isDecode()) {
      PrefillLeg leg = exchange.prefill(); // still there if it was slower than the first byte
      int cached = leg == null ? prefillCached : leg.cachedTokens();
      reported = new Usage(reported.promptTokens(), cached, reported.answerTokens());
      if (loads) {
        proxy
            .metrics()
            .countSplitTokens("received", assignment.lackedTokens(reported.promptTokens()));
      }
    }
    watch.report(reported, !isDecode()); // else they are the prefill's, or all
  }

  private Outcome outcome() {
    return AnswerWatch.outcome(answer == null ? 502 : answer.statusCode());
  }

  /** No connection, or one that ended before the response's head. */
  private void unreachable(String cause) {
    Exchange.Failure failure = sentWhole ? Exchange.Failure.DISCONNECTED : Exchange.Failure.UNSENT;
    if (over || retry(cause, Outcome.FAILED, failure)) {
      return;
    }
    finish(Outcome.FAILED);
    reset();
    exchange.reject(
        ApiError.upstream(502, cause, "The replica could not be reached or did not answer."));
  }

  /** The connection ended in the middle. */
  private void broken() {
    if (over) {
      return;
    }
    if (begun) {
      breakOff(
          ApiError.upstream(502, "stream_broken", "The replica broke off its response."),
          ResponseEnd.BROKEN_OFF,
          Outcome.FAILED);
    } else {
      unreachable("no_first_byte");
    }
  }

  /** Neither the request nor the replica's silence is over. */
  private void silent() {
    if (over) {
      return;
    }
    if (isWaitedFor()) {
      limitSilence(LOOK_AGAIN_MS, this::silent);
      return;
    }
    Outcome outcome = timeoutOutcome();
    boolean repeatable = outcome == Outcome.FAILED || !sentWhole;
    Exchange.Failure failure = sentWhole ? Exchange.Failure.LOST : Exchange.Failure.UNSENT;
    if (begun || !repeatable || !retry("timeout", outcome, failure)) {
      timedOut(outcome);
    }
  }

  private boolean isWaitedFor() {
    Replica replica = assignment.replica();
    boolean mayBeSilent = begun || !exchange.isStreamed();
    return sentWhole && (mayBeSilent ? replica.isAlive(now()) : replica.isResponding(now()));
  }

  private void totalOver() {
    if (!over) {
      timedOut(timeoutOutcome());
    }
  }

  /**
   * How an attempt ends that has no more time. Whose fault that is cannot be told if the client was
   * slow too, and a replica that is alive is not ill because a request takes long there.
   */
  private Outcome timeoutOutcome() {
    boolean excused = pausedOnce || assignment.replica().isAlive(now());
    return excused ? Outcome.CANCELLED : Outcome.FAILED;
  }

  private void timedOut(Outcome outcome) {
    ApiError error = ApiError.upstream(504, "timeout", "The replica took too long.");
    if (begun) {
      breakOff(error, ResponseEnd.CUT_OFF, outcome);
    } else {
      finish(outcome);
      reset();
      exchange.reject(error);
    }
  }

  /**
   * Ends a response that has begun: an event stream says why if it stands between two events, then
   * the connection is closed without the mark of a whole response.
   */
  void breakOff(ApiError error, ResponseEnd ending, Outcome outcome) {
    if (over) {
      return;
    }
    finish(outcome);
    reset();
    HttpServerResponse down = exchange.response();
    exchange.end(down.getStatusCode(), ending);
    UsageScanner events = watch == null ? null : watch.scanner();
    if (events != null && events.betweenEvents() && !down.writeQueueFull()) {
      down.write(error.event(exchange.errors(), events.events())).onComplete(v -> exchange.sever());
    } else {
      exchange.sever();
    }
  }

  /** Nobody wants the response any more. */
  void abandon(Outcome outcome) {
    if (!over) {
      finish(outcome);
      reset();
    }
  }

  private void finish(Outcome outcome) {
    over = true;
    silence.stop();
    total.stop();
    assignment.finished(outcome);
  }

  private void reset() {
    if (upstream != null) {
      upstream.reset();
    }
  }

  /** What a stream begins with, as far as it tells whether its prompt is computed. */
  private enum StreamStart {
    /** No event has come that tells. */
    UNKNOWN,
    /** An error, of any API's form. */
    ERROR,
    CONTENT;

    private static final String DATA = "data:";
    private static final String EVENT = "event:";

    /** That of a stream which begins with these bytes. */
    static StreamStart of(byte[] bytes) {
      String text = new String(bytes, StandardCharsets.UTF_8);
      String event = "";
      int from = 0;
      for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        String line = text.substring(from, end).strip();
        from = end + 1;
        if (line.startsWith(EVENT)) {
          event = line.substring(EVENT.length()).strip();
        } else if (line.startsWith(DATA) && !SseUsageScanner.OPENING.contains(event)) {
          String data = line.substring(DATA.length()).replace(" ", "");
          boolean isError = event.equals("error") || event.equals("response.failed");
          boolean says = data.startsWith("{\"error\":") || data.startsWith("{\"type\":\"error\"");
          return isError || says ? ERROR : CONTENT;
        } else if (line.isEmpty()) {
          event = "";
        }
      }
      return UNKNOWN;
    }
  }
}
