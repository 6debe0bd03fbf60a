package dev.warmpath.simulator.live;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.image.ImageNaming;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The routes of one engine: completions, models, tokenize, health, metrics, event sources, cache
 * reset.
 *
 * <p>Prompts are rendered and tokenized on worker threads.
 *
 * <p>Thread-safe.
 */
final class EngineApi {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long BODY_LIMIT_BYTES = 64L << 20;

  private final Vertx vertx;
  private final ModelTokenizer tokenizer;
  private final SimulatedModel model;
  private final Parts parts;
  private final AnswerText answers;
  private final ImageNaming imageNaming;
  private final FetchedImages images;
  private final AtomicLong calls = new AtomicLong();

  /**
   * What stands behind the routes.
   *
   * @param eventSources body of {@code /kv_event_sources}
   * @param answerTokens usual length of an answer that nobody limits
   * @param sequences the tokens of a request's prompts
   * @param keys what tells a prompt's blocks apart beside its tokens
   * @param transfers what it hands over to other engines and takes from them
   */
  public record Parts(
      EngineDriver driver,
      EngineMetrics metrics,
      String eventSources,
      int answerTokens,
      Function<Tokens, List<int[]>> sequences,
      Function<Tokens, PromptKeys> keys,
      KvTransfers transfers) {}

  public EngineApi(Vertx vertx, ModelTokenizer tokenizer, SimulatedModel model, Parts parts) {
    this.vertx = vertx;
    this.tokenizer = tokenizer;
    this.model = model;
    this.parts = parts;
    images = new FetchedImages(!model.joinsNames());
    answers = new AnswerText(tokenizer, parts.answerTokens());
    imageNaming = ImageNaming.of(new ImageForm(true, ImageForm.Algorithm.BLAKE3, model.name()));
  }

  /** The routes as a handler. */
  public Router router() {
    Router router = Router.router(vertx);
    router.route().handler(BodyHandler.create(false).setBodyLimit(BODY_LIMIT_BYTES));
    router.post("/v1/chat/completions").handler(at -> complete(at, RequestKind.CHAT));
    router.post("/v1/completions").handler(at -> complete(at, RequestKind.COMPLETION));
    router.post("/v1/messages").handler(at -> complete(at, RequestKind.MESSAGES));
    router.post("/v1/messages/count_tokens").handler(at -> answer(at, this::count));
    router.post("/v1/responses").handler(at -> complete(at, RequestKind.RESPONSES));
    router.post("/tokenize").handler(at -> answer(at, this::tokens));
    router.post("/reset_prefix_cache").handler(this::reset);
    router.post("/change_image").handler(this::changeImage);
    router.get("/v1/models").handler(at -> json(at.response(), model.list()));
    router.get("/kv_event_sources").handler(at -> json(at.response(), parts.eventSources()));
    router.get("/version").handler(at -> json(at.response(), "{\"version\":\"0.32.0\"}"));
    parts.transfers().addRoutes(router);
    router.get("/health").handler(this::health);
    router.get("/ping").handler(this::health);
    router.get("/model_info").handler(at -> json(at.response(), "{}")); // SGLang's, without roles
    router.get("/metrics").handler(this::metrics);
    return router;
  }

  private void health(RoutingContext at) {
    at.response().setStatusCode(parts.driver().isAlive() ? 200 : 503).end();
  }

  private void metrics(RoutingContext at) {
    at.response()
        .putHeader("content-type", "text/plain; version=0.0.4; charset=utf-8")
        .end(parts.metrics().page(parts.driver().load()));
  }

  private void reset(RoutingContext at) {
    Future.fromCompletionStage(parts.driver().resetPrefixCache(), vertx.getOrCreateContext())
        .onSuccess(done -> json(at.response(), "{\"success\":" + done + "}"))
        .onFailure(failure -> fail(at.response(), ApiException.engineDead()));
  }

  /** Something else is behind the URL that the query names. */
  private void changeImage(RoutingContext at) {
    images.change(at.request().getParam("url", ""));
    json(at.response(), "{}");
  }

  private void complete(RoutingContext at, RequestKind kind) {
    Context context = vertx.getOrCreateContext();
    HttpServerRequest request = at.request();
    byte[] body = at.body().buffer() == null ? new byte[0] : at.body().buffer().getBytes();
    vertx
        .executeBlocking(() -> call(request, kind, body), false)
        .onSuccess(call -> call.begin(context))
        .onFailure(failure -> fail(at.response(), failure));
  }

  private CompletionCall call(HttpServerRequest request, RequestKind kind, byte[] bytes) {
    ObjectNode body = parse(bytes);
    try {
      return call(request, kind, body);
    } catch (ApiException e) {
      parts.transfers().refused(body);
      throw e;
    }
  }

  private CompletionCall call(HttpServerRequest request, RequestKind kind, ObjectNode body) {
    CallOptions options = CallOptions.read(kind, body, model);
    String id = id(kind, request);
    TransferLeg leg = leg(body, id + "-0");
    Tokens prompt = prompt(kind, body, options);
    List<int[]> sequences = parts.sequences().apply(prompt);
    if (leg != null && sequences.size() != 1) {
      throw ApiException.badRequest("a transfer has one prompt", "prompt");
    }
    List<CompletionCall.Choice> choices = new ArrayList<>();
    for (int[] sequence : sequences) {
      CompletionCall.Choice choice = choice(id + "-" + choices.size(), sequence, prompt, options);
      choices.add(parts.transfers().stopsAtFirstToken(leg) ? choice.ofOneToken() : choice);
    }
    AnswerJson json = new AnswerJson(options, id, System.currentTimeMillis() / 1000);
    return new CompletionCall(
        options,
        choices,
        json,
        request.response(),
        new CompletionCall.Surroundings(parts.driver(), parts.metrics(), parts.transfers(), leg));
  }

  private @Nullable TransferLeg leg(ObjectNode body, String requestId) {
    try {
      return parts.transfers().leg(body, requestId);
    } catch (IllegalArgumentException e) {
      throw ApiException.badRequest(String.valueOf(e.getMessage()), null);
    }
  }

  private CompletionCall.Choice choice(
      String id, int[] prompt, Tokens tokens, CallOptions options) {
    int limit = options.answerLimit(prompt.length, model.maxModelTokens());
    int[] answer = answers.answer(prompt, Math.min(options.minTokens(), limit), limit);
    boolean reads = tokens.readsCache() && !parts.transfers().options().isWithoutPrefixCache();
    TokenRequest request =
        new TokenRequest(id, prompt, answer, parts.keys().apply(tokens), reads)
            .loading(options.mostLoadTokens());
    String finish = answer.length == limit ? "length" : "stop";
    return new CompletionCall.Choice(request, new Detokenizer(tokenizer::decode), finish);
  }

  private Tokens prompt(RequestKind given, ObjectNode asked, CallOptions options) {
    JsonNode ids = parts.transfers().promptIds(asked);
    RequestKind kind = ids.isArray() ? RequestKind.COMPLETION : given;
    ObjectNode body = ids.isArray() ? withIds(asked, ids) : asked;
    ObjectNode read = body.has("messages") || body.has("input") ? images.in(body) : body;
    PromptResult result = tokenizer.prompt(kind, read, options.adapter(model), imageNaming);
    if (result instanceof Inexact inexact) {
      if (inexact.cause() == FallbackCause.MULTIMODAL && !tokenizer.images().arePlaceable()) {
        throw ApiException.badRequest(model.name() + " is not a multimodal model", null);
      }
      throw ApiException.badRequest(
          "cannot be served here: " + inexact.cause().label() + ": " + inexact.detail(), null);
    }
    return (Tokens) result;
  }

  /** A chat whose prompt is tokenized already is a completion. */
  private static ObjectNode withIds(ObjectNode body, JsonNode ids) {
    ObjectNode completion = body.deepCopy();
    completion.remove(List.of("messages", "kv_transfer_params", "prompt_token_ids"));
    completion.set("prompt", ids);
    return completion;
  }

  private void answer(RoutingContext at, Function<byte[], String> work) {
    byte[] bytes = at.body().buffer() == null ? new byte[0] : at.body().buffer().getBytes();
    vertx
        .executeBlocking(() -> work.apply(bytes), false)
        .onSuccess(body -> json(at.response(), body))
        .onFailure(failure -> fail(at.response(), failure));
  }

  private String tokens(byte[] bytes) {
    ObjectNode body = parse(bytes);
    RequestKind kind = body.has("messages") ? RequestKind.CHAT : RequestKind.COMPLETION;
    Tokens prompt = prompt(kind, body, CallOptions.read(kind, body, model));
    int[] tokenIds = prompt.sequences().get(0);
    ObjectNode answer = JSON.createObjectNode();
    answer.put("count", tokenIds.length).put("max_model_len", model.maxModelTokens());
    ArrayNode array = answer.putArray("tokens");
    for (int tokenId : tokenIds) {
      array.add(tokenId);
    }
    return answer.toString();
  }

  private String count(byte[] bytes) {
    ObjectNode body = parse(bytes);
    RequestKind kind = RequestKind.MESSAGES;
    Tokens prompt = prompt(kind, body, CallOptions.read(kind, body, model));
    int tokens = prompt.sequences().get(0).length;
    ObjectNode answer = JSON.createObjectNode().put("input_tokens", tokens);
    answer.putObject("context_management").put("original_input_tokens", tokens);
    return answer.toString();
  }

  /** A name that is new even if the client repeats its own. */
  private String id(RequestKind kind, HttpServerRequest request) {
    String given = request.getHeader("X-Request-Id");
    String base = given == null ? "warmpath" : given;
    String prefix =
        switch (kind) {
          case CHAT, MESSAGES -> "chatcmpl-";
          case COMPLETION -> "cmpl-";
          case RESPONSES -> "resp_";
        };
    return prefix + base + "-" + Long.toHexString(calls.incrementAndGet());
  }

  private static ObjectNode parse(byte[] bytes) {
    try {
      JsonNode body = JSON.readTree(bytes);
      if (body instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException e) {
      throw ApiException.badRequest("the body is not JSON", null);
    } catch (IOException e) {
      throw new UncheckedIOException("reading memory", e);
    }
    throw ApiException.badRequest("the body is not a JSON object", null);
  }

  private static void json(HttpServerResponse response, String body) {
    response.putHeader("content-type", "application/json").end(body);
  }

  static void fail(HttpServerResponse response, Throwable failure) {
    ApiException error =
        failure instanceof ApiException known
            ? known
            : ApiException.unavailable(failure.getClass().getSimpleName());
    if (!response.ended() && !response.closed()) {
      response.setStatusCode(error.status());
      json(response, error.body());
    }
  }
}
