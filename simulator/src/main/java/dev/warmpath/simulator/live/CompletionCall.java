package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.live.TokenEngine.StepResult.Token;
import dev.warmpath.tokenizer.RequestKind;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerResponse;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One completion request from its submission to the last byte of its answer.
 *
 * <p>Confined to its event loop.
 */
final class CompletionCall {

  private final CallOptions options;
  private final List<Choice> choices;
  private final AnswerJson json;
  private final @Nullable EventAnswer events;
  private final HttpServerResponse response;
  private final EngineDriver driver;
  private final EngineMetrics metrics;
  private final KvTransfers transfers;
  private final @Nullable TransferLeg leg;
  private final long startNanos = System.nanoTime();
  private @Nullable ObjectNode handedOver;
  private int finished;
  private boolean over;

  /** One sequence of the call. */
  static final class Choice {
    final Detokenizer text;
    final String finishReason;
    TokenRequest request;
    final StringBuilder whole = new StringBuilder();
    int cachedTokens;
    int toldCachedTokens = -1;
    long lastTokenNanos;

    Choice(TokenRequest request, Detokenizer text, String finishReason) {
      this.request = request;
      this.text = text;
      this.finishReason = finishReason;
    }

    /** The same cut after the first token, which another engine goes on from. */
    Choice ofOneToken() {
      int[] first = {request.answer()[0]};
      TokenRequest cut =
          new TokenRequest(
                  request.id(), request.prompt(), first, request.keys(), request.readsCache())
              .loading(request.mostLoadTokens());
      return new Choice(cut, text, request.answer().length == 1 ? finishReason : "not_finished");
    }

    String finishReason() {
      return finishReason;
    }
  }

  /** Where a call gets its tokens and leaves its traces. */
  record Surroundings(
      EngineDriver driver,
      EngineMetrics metrics,
      KvTransfers transfers,
      @Nullable TransferLeg leg) {}

  CompletionCall(
      CallOptions options,
      List<Choice> choices,
      AnswerJson json,
      HttpServerResponse response,
      Surroundings surroundings) {
    this.options = options;
    this.choices = List.copyOf(choices);
    this.json = json;
    this.events = json.events();
    this.response = response;
    driver = surroundings.driver;
    metrics = surroundings.metrics;
    transfers = surroundings.transfers;
    leg = surroundings.leg;
  }

  /** Submits everything; tokens come back on {@code context}. */
  void begin(Context context) {
    response.closeHandler(gone -> abandon());
    response.exceptionHandler(failure -> abandon());
    if (leg == null) {
      submit(context);
    } else {
      transfers
          .begin(leg, choices.get(0).request)
          .onComplete(ready -> context.runOnContext(run -> begin(context, ready)));
    }
  }

  private void begin(Context context, AsyncResult<KvTransfers.Start> ready) {
    if (over) {
      return;
    }
    if (ready.failed()) {
      over = true;
      failTransfer();
      return;
    }
    Choice choice = choices.get(0);
    choice.request = choice.request.with(ready.result().transfer());
    choice.toldCachedTokens = ready.result().cachedTokens();
    submit(context);
  }

  private void submit(Context context) {
    for (int i = 0; i < choices.size(); i++) {
      choices.get(i).lastTokenNanos = startNanos;
      driver.submit(choices.get(i).request, listener(i, context));
    }
  }

  /** A stream has begun before its first token: its first event is the error. */
  private void failTransfer() {
    metrics.finished("error", secondsSince(startNanos));
    ApiException error = ApiException.transferFailed();
    if (!options.stream()) {
      EngineApi.fail(response, error);
      return;
    }
    response.putHeader("content-type", "text/event-stream; charset=utf-8").setChunked(true);
    String closing = events == null ? "data: [DONE]\n\n" : "";
    response.end(
        (events == null ? "" : "event: error\n") + "data: " + error.body() + "\n\n" + closing);
  }

  private EngineDriver.Listener listener(int index, Context context) {
    return new EngineDriver.Listener() {
      @Override
      public void token(Token token) {
        context.runOnContext(run -> hear(index, token));
      }

      @Override
      public void failed() {
        context.runOnContext(run -> fail());
      }
    };
  }

  /** The engine is dead: what has been sent so far breaks off. */
  private void fail() {
    if (over) {
      return;
    }
    over = true;
    if (leg != null) {
      transfers.abandon(leg, choices.get(0).request.id());
    }
    metrics.finished("error", secondsSince(startNanos));
    if (response.headWritten()) {
      response.reset();
    } else {
      EngineApi.fail(response, ApiException.engineDead());
    }
  }

  private void abandon() {
    if (over) {
      return;
    }
    over = true;
    if (leg != null) {
      transfers.abandon(leg, choices.get(0).request.id());
    }
    choices.forEach(choice -> driver.abort(choice.request.id()));
    metrics.finished("abort", secondsSince(startNanos));
  }

  /**
   * The last token of a prompt that was computed for another engine waits for what goes with it.
   */
  private void hear(int index, Token token) {
    if (leg == null || !leg.isPrefill() || !token.last()) {
      accept(index, token);
      return;
    }
    Choice choice = choices.get(index);
    int cached = token.index() == 0 ? token.cachedTokens() : choice.cachedTokens;
    Context context = Vertx.currentContext();
    transfers
        .computed(leg, choice.request, cached, choice.finishReason())
        .onComplete(done ->
            context.runOnContext(run -> {
              if (done.succeeded()) {
                handedOver = done.result();
                accept(index, token);
              } else if (!over) {
                over = true;
                failTransfer();
              }
            }));
  }

  private void accept(int index, Token token) {
    if (over) {
      return;
    }
    Choice choice = choices.get(index);
    count(choice, token);
    String piece = choice.text.add(token.tokenId(), token.last());
    choice.whole.append(piece);
    if (options.stream()) {
      stream(index, token, piece);
    }
    if (token.last()) {
      metrics.finished(choice.finishReason(), secondsSince(startNanos));
      finished++;
    }
    if (finished == choices.size()) {
      over = true;
      end();
    }
  }

  private void count(Choice choice, Token token) {
    metrics.token(token, secondsSince(choice.lastTokenNanos));
    choice.lastTokenNanos = System.nanoTime();
    if (token.index() == 0) {
      boolean isTold = choice.toldCachedTokens >= 0;
      choice.cachedTokens = isTold ? choice.toldCachedTokens : token.cachedTokens();
      metrics.prompt(choice.request.prompt().length, token);
    }
  }

  private void stream(int index, Token token, String piece) {
    Choice choice = choices.get(index);
    if (!response.headWritten()) {
      response.putHeader("content-type", "text/event-stream; charset=utf-8").setChunked(true);
    }
    if (events != null) {
      String opening = token.index() == 0 ? events.opening(usage(choice)) : "";
      response.write(opening + (piece.isEmpty() ? "" : events.piece(piece)));
      return;
    }
    if (token.index() == 0 && options.kind() == RequestKind.CHAT) {
      send(json.opening(index, choice.request.prompt()));
    }
    String finish = token.last() ? choice.finishReason() : null;
    if (!piece.isEmpty() || finish != null) {
      send(json.piece(index, piece, token.tokenId(), finish));
    }
  }

  private void send(ObjectNode chunk) {
    response.write("data: " + chunk + "\n\n");
  }

  private void end() {
    if (events != null) {
      end(events);
      return;
    }
    if (options.stream()) {
      if (options.includeUsage()) {
        send(json.usageChunk(usage(choices.get(0))));
      }
      response.end("data: [DONE]\n\n");
      return;
    }
    ObjectNode answer = json.answer(usage(choices.get(choices.size() - 1)));
    for (int i = 0; i < choices.size(); i++) {
      Choice choice = choices.get(i);
      json.whole(answer, i, choice.whole.toString(), choice.finishReason());
      json.tokenIds(answer, choice.request.prompt(), choice.text.tokenIds());
    }
    handOver(answer);
    response.putHeader("content-type", "application/json").end(answer.toString());
  }

  private void handOver(ObjectNode answer) {
    if (handedOver == null) {
      return;
    }
    if (transfers.options().connector() == KvConnector.TRTLLM) {
      ((ObjectNode) answer.withArray("choices").get(0)).set("disaggregated_params", handedOver);
      ArrayNode ids = answer.putArray("prompt_token_ids");
      Arrays.stream(choices.get(0).request.prompt()).forEach(ids::add);
    } else {
      answer.set("kv_transfer_params", handedOver);
    }
  }

  private void end(EventAnswer answer) {
    Choice choice = choices.get(0);
    String text = choice.whole.toString();
    if (options.stream()) {
      response.end(answer.closing(text, choice.finishReason(), usage(choice)));
    } else {
      ObjectNode whole = answer.whole(text, choice.finishReason(), usage(choice));
      handOver(whole);
      response.putHeader("content-type", "application/json").end(whole.toString());
    }
  }

  /** The sum over all choices; cached tokens of one, because that is what vLLM reports. */
  private AnswerJson.Usage usage(Choice reported) {
    int prompt = choices.stream().mapToInt(choice -> choice.request.prompt().length).sum();
    int completion = choices.stream().mapToInt(choice -> choice.text.length()).sum();
    return new AnswerJson.Usage(prompt, completion, reported.cachedTokens);
  }

  private static double secondsSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }
}
