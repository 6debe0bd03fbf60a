package dev.warmpath.router.proxy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.RouterConfig.Timeouts;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.logs.RequestTrace;
import io.netty.buffer.Unpooled;
import io.vertx.core.AsyncResult;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.internal.buffer.BufferInternal;
import java.io.IOException;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The first half of a request that is split over two engines: has one compute the prompt, and
 * collects what it answers. Nothing of it goes down to the client. It finishes its assignment
 * exactly once, whatever happens, and takes the connection down whenever the engine could otherwise
 * go on working for nobody.
 *
 * <p>Confined to its event loop.
 */
final class PrefillLeg {

  /** Hears how the leg ends, once, unless it is abandoned. */
  interface Listener {

    /**
     * The prompt is computed.
     *
     * @param answer null if it cannot be read, or has not come
     */
    void computed(@Nullable JsonNode answer);

    /** The engine refuses the request as wrong, and says why. */
    void refused(int status, byte[] why);

    /** The engine cannot be reached, does not answer, or fails. */
    void failed(String cause, Exchange.Failure failure);
  }

  /** An answer of one token that hands over; block ids of 100,000 tokens are some 50 kB. */
  private static final int LONGEST_ANSWER_BYTES = 8 << 20;

  private static final long LOOK_AGAIN_MS = 500;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Exchange exchange;
  private final ProxyContext proxy;
  private final Assignment assignment;
  private final Listener listener;
  private final TimeLimit silence = new TimeLimit();
  private final TimeLimit total = new TimeLimit();
  private final UsageScanner usage = UsageScanner.of("application/json");
  private final Buffer collected = Buffer.buffer();
  private boolean over;
  private boolean sentWhole;
  private long sentNanos;
  private long doneNanos;
  private @Nullable HttpClientRequest upstream;
  private @Nullable HttpClientResponse answer;

  PrefillLeg(Exchange exchange, ProxyContext proxy, Assignment assignment, Listener listener) {
    this.exchange = exchange;
    this.proxy = proxy;
    this.assignment = assignment;
    this.listener = listener;
  }

  /**
   * Asks the bootstrap server of Mooncake's connector, before the leg starts, what the engine is
   * called by those that fetch from it. It is another one after each restart.
   */
  void identify(Exchange.Loop loop, KvTransfer transfer, Consumer<String> named) {
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.GET)
            .setHost(transfer.host())
            .setPort(transfer.port())
            .setURI("/query")
            .setConnectTimeout(proxy.config().timeouts().connectMs());
    silence.start(proxy.config().timeouts().connectMs(), now(), this::unidentified);
    Handler<AsyncResult<Buffer>> told =
        page -> {
          String id = page.succeeded() ? engineId(page.result()) : "";
          if (!over && id.isEmpty()) {
            unidentified();
          } else if (!over) {
            named.accept(id);
          }
        };
    loop.client()
        .request(options)
        .compose(request -> {
          upstream = request; // to be reset if it never answers
          return request.send();
        })
        .compose(HttpClientResponse::body)
        .onComplete(exchange.guarded(told));
  }

  private String engineId(Buffer page) {
    try {
      String rank = Integer.toString(assignment.dpRank());
      return JSON.readTree(page.getBytes()).path(rank).path("engine_id").asText("");
    } catch (IOException e) {
      return "";
    }
  }

  private void unidentified() {
    fail("bootstrap", Exchange.Failure.UNSENT);
  }

  void start(Exchange.Loop loop, RequestOptions options, byte[] body) {
    RequestTrace trace = exchange.trace();
    if (trace != null) {
      trace.prefilling(assignment.choice(), options.getHeaders()::set);
    }
    Timeouts limits = proxy.config().timeouts();
    silence.start(limits.firstByteMs(), now(), this::silent);
    total.start(limits.totalMs(), now(), () -> fail("timeout", Exchange.Failure.LOST));
    Handler<AsyncResult<HttpClientRequest>> connected =
        tried -> {
          if (tried.failed()) {
            fail("connect", Exchange.Failure.UNSENT);
          } else {
            send(tried.result(), BufferInternal.buffer(Unpooled.wrappedBuffer(body)));
          }
        };
    loop.client().request(options).onComplete(exchange.guarded(connected));
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

  /** Whether nothing more will come of it. */
  boolean isOver() {
    return over;
  }

  /** When the prompt was computed; 0 if it is not yet. */
  long doneNanos() {
    return doneNanos;
  }

  private void send(HttpClientRequest request, Buffer body) {
    upstream = request;
    request.exceptionHandler(exchange.guarded(e -> disconnected("no_response")));
    if (over) {
      request.reset();
      return;
    }
    exchange.routed().sending();
    sentNanos = now();
    Handler<AsyncResult<HttpClientResponse>> responded =
        sent -> {
          if (sent.failed()) {
            disconnected("no_response");
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
    if (found.statusCode() < 500) {
      assignment.responded(now());
    }
    found.exceptionHandler(exchange.guarded(e -> disconnected("no_first_byte")));
    found.handler(exchange.guarded(this::chunk));
    found.endHandler(exchange.guarded(v -> complete()));
  }

  private void chunk(Buffer chunk) {
    if (over) {
      return;
    }
    silence.restart(now());
    if (collected.length() + chunk.length() > LONGEST_ANSWER_BYTES) {
      fail("prefill_answer", Exchange.Failure.LOST);
      return;
    }
    collected.appendBuffer(chunk);
    usage.feed(chunk.getBytes());
  }

  private void complete() {
    if (over) {
      return;
    }
    int status = Objects.requireNonNull(answer).statusCode();
    if (status < 400) {
      doneNanos = now();
      proxy.metrics().recordLeg(ProxyMetrics.PREFILL, doneNanos - sentNanos);
      assignment.answered();
      assignment.firstToken();
      reportUsage();
      finish(Outcome.COMPLETED);
      listener.computed(read());
    } else if (status == 408 || status == 429 || status >= 500) {
      AnswerWatch.rest(Objects.requireNonNull(answer).getHeader("retry-after"), assignment);
      end(status == 503 ? Outcome.UNAVAILABLE : status < 500 ? Outcome.REFUSED : Outcome.FAILED);
      listener.failed("status_" + status, Exchange.Failure.REFUSED);
    } else {
      assignment.answered();
      end(Outcome.REFUSED);
      listener.refused(status, collected.getBytes());
    }
  }

  private void reportUsage() {
    Usage reported = usage.usage();
    if (reported.promptTokens() != Usage.ABSENT) {
      int cached = Math.max(0, reported.cachedTokens());
      proxy.metrics().countSplitTokens("cached", cached);
      proxy.metrics().countSplitTokens("computed", Math.max(0, reported.promptTokens() - cached));
    }
    if (reported.tellsCachedTokens()) {
      assignment.usage(reported.promptTokens(), reported.cachedTokens());
    }
  }

  private @Nullable JsonNode read() {
    try {
      return JSON.readTree(collected.getBytes());
    } catch (IOException e) {
      return null;
    }
  }

  private void silent() {
    if (over) {
      return;
    }
    if (sentWhole && assignment.replica().isAlive(now())) {
      silence.start(LOOK_AGAIN_MS, now(), this::silent); // it has no byte before its last
    } else {
      fail("timeout", sentWhole ? Exchange.Failure.LOST : Exchange.Failure.UNSENT);
    }
  }

  private void disconnected(String cause) {
    fail(cause, sentWhole ? Exchange.Failure.DISCONNECTED : Exchange.Failure.UNSENT);
  }

  private void fail(String cause, Exchange.Failure failure) {
    if (over) {
      return;
    }
    boolean excused = cause.equals("timeout") && assignment.replica().isAlive(now());
    end(excused ? Outcome.CANCELLED : Outcome.FAILED);
    listener.failed(cause, failure);
  }

  /** Prompt tokens that it has reported as cached; {@link Usage#ABSENT} if it has not. */
  int cachedTokens() {
    return usage.usage().cachedTokens();
  }

  /** Its work is done, as the other leg's whole answer shows; its own may still come. */
  void settle() {
    if (!over) {
      assignment.firstToken();
      finish(Outcome.COMPLETED);
      listener.computed(null);
    }
  }

  /** Nobody wants what it computes any more. */
  void abandon() {
    if (!over) {
      end(Outcome.CANCELLED);
    }
  }

  private void end(Outcome outcome) {
    finish(outcome);
    if (upstream != null) {
      upstream.reset();
    }
  }

  private void finish(Outcome outcome) {
    over = true;
    silence.stop();
    total.stop();
    assignment.finished(outcome);
    if (exchange.trace() != null) {
      exchange.trace().prefilled(outcome.name().toLowerCase(Locale.ROOT));
    }
  }
}
