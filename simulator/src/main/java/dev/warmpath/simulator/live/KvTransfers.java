package dev.warmpath.simulator.live;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.simulator.engine.EngineRequest.Transfer;
import dev.warmpath.simulator.live.KvTransferOptions.LoadFailure;
import dev.warmpath.simulator.live.KvTransferOptions.Role;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What one engine hands over to others and takes from them. Others reach it at its HTTP port.
 *
 * <p>Thread-safe.
 */
final class KvTransfers implements AutoCloseable {

  /*
   * A meeting is one prefill and the decode that comes for its blocks:
   *
   *   who    is there                      waits for                    at most
   *   P      computing                     –                            –
   *   P      computed, its blocks held     the decode                   the lease, then they are freed
   *   D      its pull is open              the prefill's request        the lease
   *   P, D   computing                     the prompt's end             –
   *   P, D   computed                      the transfer's time          – ; then it is over
   *
   * With NIXL and TensorRT-LLM the decode cannot come before the prompt is computed. A decode that
   * goes away in the middle leaves the blocks behind, for two thirds of a lease: its heartbeats
   * have stopped. With SGLang the prefill does not begin before the decode is there, and answers
   * when the transfer is over; with all others it answers at once.
   */

  private static final String ROUTE = "/sim/kv";
  private static final String HOST_ROUTE = "/sim/kv/host";
  private static final String HOST = "127.0.0.1";
  private static final int CONNECTIONS = 10_000;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Vertx vertx;
  private final KvTransferOptions options;
  private final double speed;
  private final EngineDriver driver;
  private final HttpClient client;
  private final String engineId = UUID.randomUUID().toString();
  private final Map<String, Meeting> meetings = new HashMap<>();
  private final Map<String, HttpClientRequest> pulls = new HashMap<>();
  private final LongAdder pullsBegun;
  private final LongAdder expired;
  private final LongAdder failed;
  private final LongAdder reused;
  private volatile int port;
  private boolean closed;

  /** How a request begins: with what, and what its answer says of cached tokens (-1: as it is). */
  public record Start(Transfer transfer, int cachedTokens) {}

  private static final class Meeting {
    final String key;
    final Promise<Void> connected = Promise.promise();
    final Promise<Void> over = Promise.promise();
    @Nullable String requestId;
    boolean isComputed;
    int tokens;
    int cachedTokens;
    @Nullable Pull pull;
    long timer = -1;

    Meeting(String key) {
      this.key = key;
    }
  }

  /** A decode that waits for its answer; it lacks so many tokens, or wants nothing with 0. */
  private record Pull(HttpServerResponse response, int tokens) {}

  /**
   * @param speed how many times faster than the options say
   */
  public KvTransfers(
      Vertx vertx,
      KvTransferOptions options,
      double speed,
      EngineDriver driver,
      EngineMetrics metrics) {
    this.vertx = vertx;
    this.options = options;
    this.speed = speed;
    this.driver = driver;
    client = vertx.createHttpClient(new PoolOptions().setHttp1MaxSize(CONNECTIONS));
    boolean isNixl = options.connector().isNixl();
    boolean isAlone = options.connector() == KvConnector.NONE;
    Function<String, LongAdder> counter = isAlone ? name -> new LongAdder() : metrics::counter;
    expired = counter.apply(isNixl ? "vllm:nixl_num_kv_expired_reqs" : "warmpath_sim_kv_expired");
    failed = counter.apply(isNixl ? "vllm:nixl_num_failed_transfers" : "warmpath_sim_kv_failed");
    reused = counter.apply("warmpath_sim_kv_reused");
    pullsBegun = counter.apply("warmpath_sim_kv_pulls");
  }

  /** Adds what other engines and routers ask for. */
  public void addRoutes(Router router) {
    switch (options.connector()) {
      case NONE -> {
        return;
      }
      case SGLANG -> {
        router.get("/server_info").handler(this::describe);
        router.get("/model_info").handler(this::describe);
      }
      case MOONCAKE -> router.get("/query").handler(this::ranks);
      default -> {}
    }
    router.post(ROUTE).handler(this::pulled);
    router.post(HOST_ROUTE).handler(this::wanted);
  }

  /** Others reach it there from now on. */
  public void listensAt(int httpPort) {
    port = httpPort;
  }

  public KvTransferOptions options() {
    return options;
  }

  /** The transfer that a body asks for; null for none, an exception for one that is refused. */
  public @Nullable TransferLeg leg(JsonNode body, String requestId) {
    return TransferLeg.read(body, options, requestId);
  }

  /** The prompt's token ids, where a chat carries them; else missing. */
  public JsonNode promptIds(JsonNode body) {
    return TransferLeg.promptIds(body, options.connector());
  }

  /** Whether the answer to such a request ends with its first token. */
  public boolean stopsAtFirstToken(@Nullable TransferLeg leg) {
    return leg != null && leg.isPrefill() && options.connector().stopsAtFirstToken();
  }

  /** Does what comes before a request is submitted; fails if it must not be. */
  public Future<Start> begin(TransferLeg leg, TokenRequest request) {
    return switch (leg.kind()) {
      case PREFILL -> beginPrefill(leg, request);
      case DECODE -> beginDecode(leg, request);
      case PULL -> beginPull(leg, request);
    };
  }

  /** What does not come is computed. */
  private Future<Start> beginPull(TransferLeg leg, TokenRequest request) {
    return Future.fromCompletionStage(driver.cachedTokens(request), vertx.getOrCreateContext())
        .compose(cached -> ask(leg.from() + HOST_ROUTE, request.id(), wanted(request, cached)))
        .map(answer -> new Start(new Transfer(answer.tokens, false), -1))
        .recover(failure -> {
          failed.increment();
          return Future.succeededFuture(new Start(Transfer.NONE, -1));
        });
  }

  private static ObjectNode wanted(TokenRequest request, int cached) {
    ObjectNode body = JSON.createObjectNode().put("from", cached);
    body.put("lora_name", request.keys().loraName()).put("cache_salt", request.keys().cacheSalt());
    ArrayNode prompt = body.putArray("prompt");
    for (int token : request.prompt()) {
      prompt.add(token);
    }
    return body;
  }

  /** Another engine asks for what host memory holds of a prompt, from so many tokens on. */
  private void wanted(RoutingContext at) {
    JsonNode asked = read(at);
    if (asked == null) {
      return;
    }
    int from = asked.path("from").asInt();
    int[] prompt = JSON.convertValue(asked.path("prompt"), int[].class);
    PromptKeys keys =
        new PromptKeys(asked.path("lora_name").textValue(), asked.path("cache_salt").textValue());
    TokenRequest request = new TokenRequest("", prompt, new int[1], keys, true);
    Pull pull = new Pull(at.response(), 0);
    Future.fromCompletionStage(driver.hostEndTokens(request, from), vertx.getOrCreateContext())
        .onSuccess(end -> {
          pullsBegun.increment();
          after(options.millis(end - from) / speed, () -> answer(pull, end > from ? end : 0, 0));
        })
        .onFailure(failure -> refuse(pull, "dead"));
  }

  private synchronized Future<Start> beginPrefill(TransferLeg leg, TokenRequest request) {
    Meeting meeting = meetings.computeIfAbsent(leg.key(), Meeting::new);
    if (meeting.requestId != null) {
      reused.increment();
      return Future.failedFuture("in use: " + leg.key());
    }
    meeting.requestId = request.id();
    stopTimer(meeting);
    Start start = new Start(new Transfer(0, true), -1);
    if (options.connector() != KvConnector.SGLANG) {
      return Future.succeededFuture(start);
    }
    if (meeting.pull == null) {
      startTimer(meeting, leaseMillis(), () -> giveUp(meeting));
      return meeting.connected.future().map(start);
    }
    return Future.succeededFuture(start);
  }

  /**
   * The prompt is computed, with so many tokens in the cache before, and its blocks are held.
   *
   * @return what the answer tells of it, null for nothing, as soon as it may go out
   */
  public synchronized Future<@Nullable ObjectNode> computed(
      TransferLeg leg, TokenRequest request, int cachedTokens, String finishReason) {
    Meeting meeting = meetings.get(leg.key());
    boolean isKept = options.connector() != KvConnector.MOONCAKE || finishReason.equals("length");
    if (meeting == null || !isKept) {
      driver.free(request.id());
      drop(meeting);
      return Future.succeededFuture();
    }
    meeting.isComputed = true;
    meeting.tokens = request.prompt().length + request.answer().length - 1;
    meeting.cachedTokens = cachedTokens;
    if (meeting.pull == null) {
      startTimer(meeting, leaseMillis(), () -> giveUp(meeting));
    } else {
      transfer(meeting, meeting.pull);
    }
    return switch (options.connector()) {
      case NIXL, NIXL_PUSH ->
          Future.fromCompletionStage(driver.heldBlocks(request.id()))
              .map(blocks -> nixl(meeting, blocks));
      case TRTLLM -> Future.succeededFuture(trtllm(meeting, request));
      case SGLANG -> meeting.over.future().mapEmpty();
      default -> Future.succeededFuture();
    };
  }

  /** The request's client has gone; after {@link #computed} that changes nothing. */
  public synchronized void abandon(TransferLeg leg, String requestId) {
    HttpClientRequest pull = pulls.remove(requestId);
    if (pull != null) {
      pull.reset();
    }
    Meeting meeting = leg.isPrefill() ? meetings.get(leg.key()) : null;
    if (meeting != null && !meeting.isComputed && requestId.equals(meeting.requestId)) {
      driver.free(requestId); // its last token may be on the way
      drop(meeting);
    }
  }

  /** A request was refused before it began: the blocks that wait for it are wanted no more. */
  public void refused(JsonNode body) {
    boolean tells = options.connector().isNixl() || options.connector() == KvConnector.MOONCAKE;
    TransferLeg leg = tells ? leg(body, "") : null;
    if (leg != null && !leg.isPrefill()) {
      pull(leg, "", 0);
    }
  }

  private Future<Start> beginDecode(TransferLeg leg, TokenRequest request) {
    int prompt = request.prompt().length;
    return Future.fromCompletionStage(driver.cachedTokens(request), vertx.getOrCreateContext())
        .compose(cached -> pull(leg, request.id(), prompt - cached))
        .map(answer -> {
          int tokens = options.connector().isNixl() ? leg.remoteTokens() : answer.tokens;
          int cached =
              options.connector() == KvConnector.SGLANG ? answer.cached : leg.cachedTokens();
          return new Start(new Transfer(Math.min(tokens, prompt), false), cached);
        })
        .recover(failure -> {
          failed.increment();
          boolean recomputes =
              options.onLoadFailure() == LoadFailure.RECOMPUTE
                  && options.connector().canRecompute();
          return recomputes
              ? Future.succeededFuture(new Start(Transfer.NONE, leg.cachedTokens()))
              : Future.failedFuture(failure);
        });
  }

  /** What a prefill's engine said of the blocks. */
  private record Fetched(int tokens, int cached) {}

  /** Comes back when the blocks are here. */
  private Future<Fetched> pull(TransferLeg leg, String requestId, int tokens) {
    ObjectNode body = JSON.createObjectNode().put("key", leg.key()).put("tokens", tokens);
    body.put("engine_id", leg.engineId());
    return ask(leg.from() + ROUTE, requestId, body);
  }

  private Future<Fetched> ask(String url, String requestId, ObjectNode body) {
    RequestOptions to = new RequestOptions().setMethod(HttpMethod.POST).setAbsoluteURI(url);
    return client
        .request(to)
        .compose(request -> {
          keep(requestId, request);
          return request
              .send(Buffer.buffer(body.toString()))
              .compose(response ->
                  response.body().map(answer -> read(response.statusCode(), answer.getBytes())));
        })
        .onComplete(done -> forget(requestId));
  }

  private synchronized void keep(String requestId, HttpClientRequest request) {
    if (!requestId.isEmpty()) {
      pulls.put(requestId, request);
    }
  }

  private synchronized void forget(String requestId) {
    pulls.remove(requestId);
  }

  private static Fetched read(int status, byte[] body) {
    if (status != 200) {
      throw new IllegalStateException("transfer failed: " + new String(body, UTF_8));
    }
    try {
      JsonNode answer = JSON.readTree(body);
      return new Fetched(answer.path("tokens").asInt(), answer.path("cached_tokens").asInt());
    } catch (IOException e) {
      throw new IllegalStateException("transfer failed", e);
    }
  }

  /** A decode asks for blocks. */
  private void pulled(RoutingContext at) {
    JsonNode asked = read(at);
    if (asked == null) {
      return;
    }
    Pull pull = new Pull(at.response(), asked.path("tokens").asInt());
    String wanted = asked.path("engine_id").asText("");
    if (!wanted.isEmpty() && !wanted.equals(engineId)) {
      refuse(pull, "no engine " + wanted);
    } else {
      meet(asked.path("key").asText(), pull);
    }
  }

  private static @Nullable JsonNode read(RoutingContext at) {
    try {
      return JSON.readTree(at.body().buffer().getBytes());
    } catch (IOException e) {
      at.response().setStatusCode(400).end();
      return null;
    }
  }

  private synchronized void meet(String key, Pull pull) {
    Meeting meeting = meetings.get(key);
    if (meeting == null && options.connector().isTogether() && !closed) {
      Meeting begun = new Meeting(key);
      meetings.put(key, begun);
      startTimer(begun, leaseMillis(), () -> giveUp(begun));
      meeting = begun;
    }
    if (meeting == null || meeting.pull != null) {
      reuse(pull);
      return;
    }
    Meeting met = meeting;
    met.pull = pull;
    pull.response.closeHandler(gone -> pullerLeft(met, pull));
    if (met.requestId != null) {
      stopTimer(met);
      met.connected.tryComplete();
    }
    if (met.isComputed) {
      transfer(met, pull);
    }
  }

  /** Blocks that are held no longer, or that another one fetches: NIXL reads whatever is there. */
  private void reuse(Pull pull) {
    reused.increment();
    if (options.connector().isNixl()) {
      after(options.millis(pull.tokens) / speed, () -> answer(pull, 0, 0));
    } else {
      refuse(pull, "not held");
    }
  }

  private synchronized void pullerLeft(Meeting meeting, Pull pull) {
    if (!pull.equals(meeting.pull)) {
      return;
    }
    meeting.pull = null;
    if (meeting.requestId == null) {
      drop(meeting);
    } else if (meeting.isComputed) {
      startTimer(meeting, leaseMillis() * 2 / 3, () -> giveUp(meeting));
    }
  }

  private void transfer(Meeting meeting, Pull pull) {
    pullsBegun.increment();
    startTimer(meeting, options.millis(pull.tokens) / speed, () -> transferred(meeting, pull));
  }

  private synchronized void transferred(Meeting meeting, Pull pull) {
    if (pull.equals(meeting.pull) && meetings.remove(meeting.key, meeting)) {
      meeting.pull = null;
      free(meeting);
      answer(pull, meeting.tokens, meeting.cachedTokens);
      meeting.over.tryComplete();
    }
  }

  /** Nobody came in time; does nothing if somebody just has. */
  private synchronized void giveUp(Meeting meeting) {
    boolean isAlone = (meeting.requestId == null) != (meeting.pull == null);
    if (isAlone && meetings.get(meeting.key) == meeting) {
      if (meeting.isComputed) {
        expired.increment();
        free(meeting);
      }
      drop(meeting);
    }
  }

  private void drop(@Nullable Meeting meeting) {
    if (meeting == null) {
      return;
    }
    meetings.remove(meeting.key, meeting);
    stopTimer(meeting);
    Pull pull = meeting.pull;
    meeting.pull = null;
    if (pull != null) {
      refuse(pull, "not computed");
    }
    meeting.connected.tryFail("no decode came");
    meeting.over.tryFail("no decode came");
  }

  private void free(Meeting meeting) {
    String requestId = meeting.requestId;
    if (requestId != null) {
      driver.free(requestId);
    }
  }

  private ObjectNode nixl(Meeting meeting, int[][] blocks) {
    ObjectNode params = JSON.createObjectNode();
    params.put("do_remote_prefill", true).put("do_remote_decode", false);
    ArrayNode groups = params.putArray("remote_block_ids");
    for (int[] group : blocks) {
      ArrayNode ids = groups.addArray();
      for (int block : group) {
        if (block != 0) {
          ids.add(block);
        }
      }
    }
    params.put("remote_engine_id", engineId).put("remote_request_id", meeting.requestId);
    params.put("remote_host", HOST).put("remote_port", port);
    params.put("tp_size", 1).put("dcp_size", 1).put("pp_size", 1);
    params.put("remote_num_tokens", meeting.tokens);
    boolean isPull = options.connector() == KvConnector.NIXL;
    if (isPull) {
      params.putNull("remote_blocks_expiry_time");
    }
    params.put("transfer_mode", isPull ? "pull" : "push");
    return params.put("remote_prefill_cached_tokens", meeting.cachedTokens);
  }

  private ObjectNode trtllm(Meeting meeting, TokenRequest request) {
    ObjectNode params = JSON.createObjectNode().put("request_type", "context_only");
    params.putArray("first_gen_tokens").add(request.answer()[0]);
    long id = Integer.toUnsignedLong(meeting.key.hashCode());
    params.put("ctx_request_id", id).put("ctx_dp_rank", 0);
    params.put(
        "encoded_opaque_state",
        TransferLeg.opaque(meeting.key, TransferLeg.url(HOST, port), engineId));
    return params.putNull("draft_tokens");
  }

  /** Mooncake's bootstrap server: which engine each rank is. */
  private void ranks(RoutingContext at) {
    ObjectNode ranks = JSON.createObjectNode();
    if (options.role() != Role.DECODE) {
      ObjectNode rank = ranks.putObject("0").put("engine_id", engineId);
      ObjectNode workers = rank.putObject("worker_addr").putObject("0");
      workers.put("0", "tcp://" + HOST + ":" + port);
    }
    json(at.response(), ranks);
  }

  private void describe(RoutingContext at) {
    boolean isAlone = options.role() == Role.BOTH;
    String mode = isAlone ? "null" : options.role().name().toLowerCase(Locale.ROOT);
    ObjectNode info = JSON.createObjectNode().put("disaggregation_mode", mode);
    json(at.response(), info.put("disaggregation_bootstrap_port", port));
  }

  private static void answer(Pull pull, int tokens, int cachedTokens) {
    ObjectNode body = JSON.createObjectNode().put("tokens", tokens);
    json(pull.response, body.put("cached_tokens", cachedTokens));
  }

  private static void refuse(Pull pull, String why) {
    pull.response.setStatusCode(404);
    json(pull.response, JSON.createObjectNode().put("error", why));
  }

  private static void json(HttpServerResponse response, ObjectNode body) {
    if (!response.ended() && !response.closed()) {
      response.putHeader("content-type", "application/json").end(body.toString());
    }
  }

  private double leaseMillis() {
    return options.leaseSeconds() * 1e3;
  }

  private void startTimer(Meeting meeting, double millis, Runnable then) {
    stopTimer(meeting);
    if (!closed) {
      meeting.timer = after(millis, then);
    }
  }

  private void stopTimer(Meeting meeting) {
    vertx.cancelTimer(meeting.timer);
  }

  private long after(double millis, Runnable then) {
    return vertx.setTimer(Math.max(1, Math.round(millis)), timer -> then.run());
  }

  /** The engine is gone: nobody gets an answer. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      meetings.values().forEach(this::stopTimer);
      meetings.clear();
    }
    client.close();
  }
}
