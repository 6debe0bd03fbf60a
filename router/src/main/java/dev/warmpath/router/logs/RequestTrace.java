package dev.warmpath.router.logs;

import dev.warmpath.router.dispatch.Choice;
import dev.warmpath.tokenizer.body.FallbackCause;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The trace of one request: its span, and below it one each for tokenizing, deciding, and each
 * replica that is tried. It holds lengths and names, no text, token ids or credentials.
 *
 * <p>Thread-safe: steps follow one another on several threads.
 */
public final class RequestTrace {

  /*
   * POST /v1/chat/completions    accepted ───────────────────────────── last byte
   *   tokenize                     ├──┤
   *   decide                          ├┤
   *   prefill (where another computes)   ├────┤
   *   upstream (one a try)              ├────────●──────────────────┤
   *                                              first token
   */

  private final Tracer tracer;
  private final Span request;
  private final Context context;
  private volatile Span step = Span.getInvalid();
  private volatile Span prefill = Span.getInvalid();
  private volatile Span upstream = Span.getInvalid();

  RequestTrace(Tracer tracer, Span request) {
    this.tracer = tracer;
    this.request = request;
    this.context = Context.root().with(request);
  }

  /** Its body has come and is being read. */
  public void tokenizing() {
    step = begin("tokenize", SpanKind.INTERNAL);
  }

  /**
   * The body was read and an engine is being chosen.
   *
   * @param promptTokens the prompt's length; negative if it is not known
   * @param fallback why the prompt is not known, or null
   */
  public void deciding(@Nullable String model, int promptTokens, @Nullable FallbackCause fallback) {
    if (promptTokens >= 0) {
      step.setAttribute("warmpath.prompt_tokens", promptTokens);
    }
    if (fallback != null) {
      step.setAttribute("warmpath.fallback", fallback.label());
    }
    step.end();
    if (model != null) {
      request.setAttribute("gen_ai.request.model", Decision.shown(model));
    }
    step = begin("decide", SpanKind.INTERNAL);
  }

  /** What was decided, in one word: an engine's name, that it waits, or why there is none. */
  public void decided(String result) {
    step.setAttribute("warmpath.result", result);
    step.end();
  }

  /** It left the queue. */
  public void leftQueue() {
    request.addEvent("left queue");
  }

  /**
   * The engine that was chosen is tried.
   *
   * @param headers sets a header of the request there
   */
  public void trying(Choice choice, Headers headers) {
    endUpstream("retried");
    upstream = sending("upstream", choice, headers);
  }

  /**
   * The engine that computes the prompt for another one is tried.
   *
   * @param headers sets a header of the request there
   */
  public void prefilling(Choice choice, Headers headers) {
    prefill.end();
    prefill = sending("prefill", choice, headers);
  }

  /** That engine has answered, or never will. */
  public void prefilled(String outcome) {
    prefill.setAttribute("warmpath.outcome", outcome);
    prefill.end();
  }

  private Span sending(String name, Choice choice, Headers headers) {
    Span span = begin(name, SpanKind.CLIENT);
    span.setAttribute("warmpath.engine", choice.engine());
    span.setAttribute("warmpath.policy", choice.policy());
    span.setAttribute("warmpath.reason", choice.reason());
    if (choice.prediction().predicts()) {
      span.setAttribute("warmpath.predicted_cached_tokens", choice.prediction().cachedTokens());
    }
    W3CTraceContextPropagator.getInstance()
        .inject(
            context.with(span),
            headers,
            (to, key, value) -> {
              if (to != null) {
                to.accept(key, value);
              }
            });
    return span;
  }

  /** Sets a header. */
  public interface Headers extends BiConsumer<String, String> {}

  /** The first part of a streamed answer came. */
  public void firstToken() {
    upstream.addEvent("first token");
  }

  /**
   * The engine's figures of the request, negative for what it did not report.
   *
   * @param promptTokens the prompt's length
   * @param cachedTokens how many of them it did not compute
   * @param answerTokens the answer's length
   */
  public void usage(int promptTokens, int cachedTokens, int answerTokens) {
    number("gen_ai.usage.input_tokens", promptTokens);
    number("warmpath.cached_tokens", cachedTokens);
    number("gen_ai.usage.output_tokens", answerTokens);
  }

  private void number(String name, int value) {
    if (value >= 0) {
      upstream.setAttribute(name, value);
    }
  }

  /**
   * It is over.
   *
   * @param outcome how, in one word
   */
  public void ended(int status, String outcome) {
    step.end(); // without effect if it has ended
    prefill.end();
    endUpstream(outcome);
    request.setAttribute("http.response.status_code", status);
    request.setAttribute("warmpath.outcome", outcome);
    if (status >= 500) {
      request.setStatus(StatusCode.ERROR, outcome);
    }
    request.end();
  }

  private void endUpstream(String outcome) {
    upstream.setAttribute("warmpath.outcome", outcome);
    upstream.end();
  }

  private Span begin(String name, SpanKind kind) {
    return tracer.spanBuilder(name).setParent(context).setSpanKind(kind).startSpan();
  }
}
