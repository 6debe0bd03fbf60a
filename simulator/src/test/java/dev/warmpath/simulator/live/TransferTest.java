package dev.warmpath.simulator.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.KvTransferOptions.LoadFailure;
import dev.warmpath.simulator.live.KvTransferOptions.Role;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A prefill and a decode over real sockets; the test does what a router does. */
@Timeout(120)
class TransferTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String TEXT = "Where the path is warm, each block waits for one prompt. ";
  private static final String PROMPT = TEXT.repeat(20);
  private static ModelTokenizer tokenizer;
  private static LiveEngines engines;

  private final List<LiveEngine> started = new ArrayList<>();
  private LiveEngine prefill;
  private LiveEngine decode;

  @BeforeAll
  static void load() {
    tokenizer = ModelTokenizer.embedded();
    engines = new LiveEngines(tokenizer);
  }

  @AfterAll
  static void unload() {
    engines.close();
    tokenizer.close();
  }

  @AfterEach
  void stop() {
    started.forEach(LiveEngine::close);
  }

  private LiveEngine start(KvTransferOptions transfer, double speed) {
    EngineConfig config =
        new EngineConfig(
            KvCacheConfig.fullAttention(16, 400), 512, 16, 2048, new StepCost(1, 0.01, 0, 0));
    LiveEngine engine =
        engines.start(LiveEngineOptions.of("sim", config).pace(speed, 32).with(transfer));
    started.add(engine);
    return engine;
  }

  private void startPair(KvConnector connector, double leaseSeconds, LoadFailure onFailure) {
    prefill = start(KvTransferOptions.of(connector, Role.PREFILL).with(leaseSeconds, onFailure), 1);
    decode = start(KvTransferOptions.of(connector, Role.DECODE).with(leaseSeconds, onFailure), 1);
  }

  @ParameterizedTest
  @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void twoEnginesAnswerWhatOneDoes(KvConnector connector) throws Exception {
    startPair(connector, 30, LoadFailure.FAIL);
    JsonNode alone = json(post(start(KvTransferOptions.NONE, 1), request()));

    JsonNode answer = json(serve(connector, request(), "1"));

    assertThat(answer.path("choices").path(0).path("text").asText())
        .isEqualTo(alone.path("choices").path(0).path("text").asText())
        .isNotBlank();
    assertThat(answer.path("choices").path(0).path("token_ids"))
        .isEqualTo(alone.path("choices").path(0).path("token_ids"));
    int prompt = answer.path("usage").path("prompt_tokens").asInt();
    assertThat(prompt).isEqualTo(alone.path("usage").path("prompt_tokens").asInt());
    boolean tellsPrefillsHit = connector.isNixl() || connector == KvConnector.SGLANG;
    assertThat(cached(answer)).isEqualTo(tellsPrefillsHit ? 0 : prompt);
    assertThat(metric(decode, "prompt_tokens_by_source_total", "external_kv_transfer"))
        .isEqualTo(prompt);
    assertThat(metric(decode, "prompt_tokens_by_source_total", "local_compute")).isZero();
    assertThat(metric(prefill, "prompt_tokens_by_source_total", "local_compute")).isEqualTo(prompt);
    awaitMetric(prefill, "kv_cache_usage_perc", 0);
  }

  @ParameterizedTest
  @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void whatTheDecodeHasIsNotFetchedAgain(KvConnector connector) throws Exception {
    startPair(connector, 30, LoadFailure.FAIL);
    serve(connector, request(), "1");
    int first = metric(decode, "prompt_tokens_by_source_total", "external_kv_transfer");

    JsonNode answer = json(serve(connector, request(), "2"));

    int prompt = answer.path("usage").path("prompt_tokens").asInt();
    int second = metric(decode, "prompt_tokens_by_source_total", "external_kv_transfer") - first;
    boolean hasNoCache = connector == KvConnector.SGLANG;
    assertThat(second).isEqualTo(hasNoCache ? prompt : prompt - (prompt - 1) / 16 * 16);
    boolean tellsPrefillsHit = connector.isNixl() || connector == KvConnector.SGLANG;
    assertThat(cached(answer)).isEqualTo(tellsPrefillsHit ? (prompt - 1) / 16 * 16 : prompt);
  }

  @ParameterizedTest
  @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void aStreamOfTheDecodeIsTheSame(KvConnector connector) throws Exception {
    startPair(connector, 30, LoadFailure.FAIL);
    JsonNode alone = json(post(start(KvTransferOptions.NONE, 1), request()));
    ObjectNode streamed = request().put("stream", true);

    StringBuilder text = new StringBuilder();
    for (String event : serve(connector, streamed, "1").body().split("\n\n")) {
      if (!event.contains("[DONE]")) {
        JsonNode chunk = JSON.readTree(event.substring("data: ".length()));
        text.append(chunk.path("choices").path(0).path("text").asText());
      }
    }

    assertThat(text.toString()).isEqualTo(alone.path("choices").path(0).path("text").asText());
  }

  @ParameterizedTest
  @EnumSource(names = {"NIXL", "NIXL_PUSH", "MOONCAKE", "OFFLOADING", "TRTLLM"})
  void blocksThatNobodyFetchesAreFreedWhenTheirLeaseEnds(KvConnector connector) throws Exception {
    startPair(connector, 0.3, LoadFailure.FAIL);
    json(post(prefill, prefillRequest(connector, request(), "1")));

    awaitMetric(prefill, "kv_cache_usage_perc", 0);

    String name = connector.isNixl() ? "nixl_num_kv_expired_reqs" : "warmpath_sim_kv_expired";
    assertThat(metric(prefill, name + "_total", "")).isEqualTo(1);
  }

  @Test
  void nixlTellsWhereTheBlocksAre() throws Exception {
    startPair(KvConnector.NIXL, 30, LoadFailure.FAIL);
    JsonNode answer = json(post(prefill, prefillRequest(KvConnector.NIXL, request(), "1")));

    JsonNode params = answer.path("kv_transfer_params");
    int prompt = answer.path("usage").path("prompt_tokens").asInt();
    assertThat(params.path("do_remote_prefill").asBoolean()).isTrue();
    assertThat(params.path("do_remote_decode").asBoolean(true)).isFalse();
    assertThat(params.path("remote_block_ids").path(0)).hasSize((prompt + 15) / 16);
    assertThat(params.path("remote_port").asInt()).isEqualTo(prefill.ports().http());
    assertThat(params.path("remote_num_tokens").asInt()).isEqualTo(prompt);
    assertThat(params.path("transfer_mode").asText()).isEqualTo("pull");
    assertThat(params.path("remote_blocks_expiry_time").isNull()).isTrue();
    assertThat(params.path("remote_prefill_cached_tokens").isInt()).isTrue();
    assertThat(params.path("remote_host").asText()).isEqualTo("127.0.0.1");
    assertThat(params.fieldNames())
        .toIterable()
        .contains("remote_engine_id", "remote_request_id", "tp_size", "dcp_size", "pp_size");
  }

  @Test
  void chatsResponsesAndMessagesHandOverToo() throws Exception {
    startPair(KvConnector.NIXL, 30, LoadFailure.FAIL);
    String chat =
        "{\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"" + TEXT + "\"}]}";
    String response = "{\"max_output_tokens\":9,\"input\":\"" + TEXT + "\"}";
    for (String path : List.of("/v1/chat/completions", "/v1/messages", "/v1/responses")) {
      ObjectNode body = object(path.endsWith("responses") ? response : chat);
      JsonNode first = json(post(prefill, path, prefillRequest(KvConnector.NIXL, body, "1")));
      assertThat(first.path("kv_transfer_params").isObject()).as(path).isTrue();
      ObjectNode second = body.deepCopy();
      second.set("kv_transfer_params", first.path("kv_transfer_params"));
      json(post(decode, path, second));
    }
    awaitMetric(prefill, "kv_cache_usage_perc", 0);
    assertThat(metric(decode, "prompt_tokens_by_source_total", "local_compute")).isZero();
  }

  @Test
  void aStreamingPrefillHoldsBlocksAndDoesNotSayWhere() throws Exception {
    startPair(KvConnector.NIXL, 30, LoadFailure.FAIL);
    ObjectNode body = prefillRequest(KvConnector.NIXL, request(), "1").put("stream", true);

    assertThat(post(prefill, body).body()).contains("[DONE]").doesNotContain("kv_transfer_params");

    assertThat(metric(prefill, "kv_cache_usage_perc", "")).isPositive();
  }

  @Test
  void parametersUsedTwiceAreAnsweredAndOnlyThePrefillCountsIt() throws Exception {
    startPair(KvConnector.NIXL, 30, LoadFailure.FAIL);
    ObjectNode body = decodeRequest(KvConnector.NIXL, request(), "1", prefilled(KvConnector.NIXL));
    json(post(decode, body));
    assertThat(metric(prefill, "warmpath_sim_kv_reused_total", "")).isZero();
    json(post(decode, "/reset_prefix_cache", object("{}")));

    JsonNode answer = json(post(decode, body));

    assertThat(answer.path("usage").path("completion_tokens").asInt()).isEqualTo(12);
    assertThat(metric(prefill, "warmpath_sim_kv_reused_total", "")).isEqualTo(1);
    assertThat(metric(decode, "nixl_num_failed_transfers_total", "")).isZero();
  }

  @Test
  void aPrefillThatIsGoneMakesTheDecodeFail() throws Exception {
    startPair(KvConnector.NIXL, 30, LoadFailure.FAIL);
    ObjectNode body = decodeRequest(KvConnector.NIXL, request(), "1", prefilled(KvConnector.NIXL));
    prefill.kill();

    assertThat(post(decode, body).statusCode()).isEqualTo(500);
    HttpResponse<String> stream = post(decode, body.deepCopy().put("stream", true));
    assertThat(stream.statusCode()).isEqualTo(200);
    assertThat(stream.body()).startsWith("data: {\"error\":").contains("\"code\":500");
    assertThat(metric(decode, "nixl_num_failed_transfers_total", "")).isEqualTo(2);
  }

  @Test
  void aPrefillThatIsGoneMakesTheDecodeCompute() throws Exception {
    startPair(KvConnector.NIXL, 30, LoadFailure.RECOMPUTE);
    JsonNode params = prefilled(KvConnector.NIXL);
    prefill.restart();

    JsonNode answer = json(post(decode, decodeRequest(KvConnector.NIXL, request(), "1", params)));

    int prompt = answer.path("usage").path("prompt_tokens").asInt();
    assertThat(cached(answer)).as("the prefill's figure stands").isZero();
    assertThat(metric(decode, "prompt_tokens_by_source_total", "local_compute")).isEqualTo(prompt);
  }

  @Test
  void aDecodeThatGoesAwayInTheMiddleLeavesTheBlocksToTheirLease() throws Exception {
    KvTransferOptions slow =
        KvTransferOptions.of(KvConnector.NIXL, Role.BOTH).with(2, LoadFailure.FAIL).pace(1, 0);
    prefill = start(slow, 1);
    decode = start(slow, 1);
    ObjectNode body = decodeRequest(KvConnector.NIXL, request(), "1", prefilled(KvConnector.NIXL));
    CompletableFuture<HttpResponse<String>> waiting = postAsync(decode, body);
    awaitMetric(prefill, "warmpath_sim_kv_pulls_total", 1);
    decode.kill();

    assertThat(waiting).failsWithin(Duration.ofSeconds(60));
    awaitMetric(prefill, "kv_cache_usage_perc", 0);
    assertThat(metric(prefill, "nixl_num_kv_expired_reqs_total", "")).isEqualTo(1);
  }

  @Test
  void aRequestThatTheDecodeRefusesFreesThePrefillsBlocks() throws Exception {
    startPair(KvConnector.NIXL, 300, LoadFailure.FAIL);
    ObjectNode body = decodeRequest(KvConnector.NIXL, request(), "1", prefilled(KvConnector.NIXL));

    assertThat(post(decode, body.put("max_tokens", 100_000)).statusCode()).isEqualTo(400);

    awaitMetric(prefill, "kv_cache_usage_perc", 0);
    assertThat(metric(prefill, "nixl_num_kv_expired_reqs_total", "")).isZero();
  }

  @Test
  void aClientThatLeavesDuringThePrefillLeavesNothingBehind() throws Exception {
    prefill =
        start(
            KvTransferOptions.of(KvConnector.NIXL, Role.PREFILL).with(300, LoadFailure.FAIL),
            0.002);
    HttpClient impatient = HttpClient.newHttpClient();
    ObjectNode body = prefillRequest(KvConnector.NIXL, request(), "1");
    CompletableFuture<HttpResponse<String>> answer =
        impatient.sendAsync(to(prefill, "/v1/completions", body), BodyHandlers.ofString());
    awaitMetric(prefill, "num_requests_running", 1);
    answer.cancel(true);

    awaitMetric(prefill, "num_requests_running", 0);
    awaitMetric(prefill, "kv_cache_usage_perc", 0);
  }

  @Test
  void minTokensAboveMaxTokensAreRefused() throws Exception {
    startPair(KvConnector.NIXL, 30, LoadFailure.FAIL);
    ObjectNode body = prefillRequest(KvConnector.NIXL, request(), "1").put("min_tokens", 5);
    assertThat(post(prefill, body).statusCode()).isEqualTo(400);
  }

  @Test
  void aPromptMayComeAsTokensInAChat() throws Exception {
    startPair(KvConnector.NIXL, 30, LoadFailure.FAIL);
    ObjectNode body =
        object(
            "{\"messages\":[{\"role\":\"user\",\"content\":\"?\"}],\"return_token_ids\":true,"
                + "\"kv_transfer_params\":{\"prompt_token_ids\":[5,6,7]},\"max_tokens\":2}");
    JsonNode answer = json(post(decode, "/v1/chat/completions", body));
    assertThat(answer.path("prompt_token_ids").toString()).isEqualTo("[5,6,7]");
  }

  @ParameterizedTest
  @EnumSource(names = {"MOONCAKE", "OFFLOADING", "SGLANG"})
  void theDecodeMayComeFirst(KvConnector connector) throws Exception {
    startPair(connector, 30, LoadFailure.FAIL);
    CompletableFuture<HttpResponse<String>> answer =
        postAsync(decode, decodeRequest(connector, request(), "7", null));
    json(post(start(KvTransferOptions.NONE, 1), request())); // time for the decode to be there
    assertThat(answer).isNotDone();

    json(post(prefill, prefillRequest(connector, request(), "7")));

    assertThat(json(answer.get()).path("usage").path("completion_tokens").asInt()).isEqualTo(12);
  }

  @ParameterizedTest
  @EnumSource(names = {"MOONCAKE", "OFFLOADING"})
  void aDecodeThatNobodyComputesForRecomputes(KvConnector connector) throws Exception {
    startPair(connector, 0.2, LoadFailure.RECOMPUTE);
    JsonNode answer = json(post(decode, decodeRequest(connector, request(), "7", null)));
    assertThat(answer.path("usage").path("completion_tokens").asInt()).isEqualTo(12);
    assertThat(cached(answer)).isZero();
  }

  @Test
  void mooncakeHandsOverOnlyAnswersOfFullLengthAndNamesItsRanks() throws Exception {
    startPair(KvConnector.MOONCAKE, 0.2, LoadFailure.FAIL);
    ObjectNode ended = prefillRequest(KvConnector.MOONCAKE, request(), "8").put("max_tokens", 500);
    ended.put("ignore_eos", false);
    json(post(prefill, ended));
    awaitMetric(prefill, "kv_cache_usage_perc", 0);
    assertThat(metric(prefill, "warmpath_sim_kv_expired_total", "")).isZero();

    assertThat(get(prefill, "/query").path("0").path("engine_id").asText()).isNotEmpty();
    assertThat(get(decode, "/query")).isEmpty();
    ObjectNode other = decodeRequest(KvConnector.MOONCAKE, request(), "8", null);
    other.withObject("/kv_transfer_params").put("remote_engine_id", "another");
    assertThat(post(decode, other).statusCode()).isEqualTo(500);
  }

  @Test
  void sglangsPrefillWaitsForADecodeAndItsRoomIsItsOwn() throws Exception {
    startPair(KvConnector.SGLANG, 30, LoadFailure.FAIL);
    ObjectNode body = prefillRequest(KvConnector.SGLANG, request(), "9");
    CompletableFuture<HttpResponse<String>> one = postAsync(prefill, body);
    CompletableFuture<HttpResponse<String>> other = postAsync(prefill, body);
    CompletableFuture.anyOf(one, other).join();
    CompletableFuture<HttpResponse<String>> refused = one.isDone() ? one : other;
    CompletableFuture<HttpResponse<String>> first = one.isDone() ? other : one;
    assertThat(refused.join().statusCode()).isEqualTo(500);
    assertThat(metric(prefill, "warmpath_sim_kv_reused_total", "")).isEqualTo(1);
    assertThat(first).isNotDone();
    assertThat(metric(prefill, "prompt_tokens_by_source_total", "local_compute")).isZero();

    json(post(decode, decodeRequest(KvConnector.SGLANG, request(), "9", null)));

    JsonNode answer = json(first.get());
    assertThat(answer.path("usage").path("completion_tokens").asInt()).isEqualTo(1);
  }

  @Test
  void sglangsEnginesTellTheirModeAndWantARoom() throws Exception {
    startPair(KvConnector.SGLANG, 0.2, LoadFailure.RECOMPUTE);
    for (String path : List.of("/server_info", "/model_info")) {
      assertThat(get(prefill, path).path("disaggregation_mode").asText()).isEqualTo("prefill");
      assertThat(get(decode, path).path("disaggregation_mode").asText()).isEqualTo("decode");
      assertThat(get(prefill, path).path("disaggregation_bootstrap_port").asInt())
          .isEqualTo(prefill.ports().http());
    }
    assertThat(post(prefill, request()).statusCode()).isEqualTo(400);
    assertThat(post(decode, request()).statusCode()).isEqualTo(400);
    assertThat(post(decode, decodeRequest(KvConnector.SGLANG, request(), "1", null)).statusCode())
        .as("a decode cannot compute a prompt")
        .isEqualTo(500);
    assertThat(post(prefill, prefillRequest(KvConnector.SGLANG, request(), "2")).statusCode())
        .as("no decode comes")
        .isEqualTo(500);
    LiveEngine both = start(KvTransferOptions.of(KvConnector.SGLANG, Role.BOTH), 1);
    assertThat(get(both, "/server_info").path("disaggregation_mode").asText()).isEqualTo("null");
    json(post(both, request()));
  }

  /** What a router does: both legs, one after the other or together. */
  private HttpResponse<String> serve(KvConnector connector, ObjectNode request, String id)
      throws Exception {
    ObjectNode first = prefillRequest(connector, request, id);
    if (connector.isTogether()) {
      CompletableFuture<HttpResponse<String>> computed = postAsync(prefill, first);
      HttpResponse<String> answer = post(decode, decodeRequest(connector, request, id, null));
      assertThat(computed.get().statusCode()).isEqualTo(200);
      return answer;
    }
    JsonNode computed = json(post(prefill, first));
    return post(decode, decodeRequest(connector, request, id, computed));
  }

  private JsonNode prefilled(KvConnector connector) throws Exception {
    return json(post(prefill, prefillRequest(connector, request(), "1")));
  }

  private static ObjectNode request() {
    return JSON.createObjectNode()
        .put("prompt", PROMPT)
        .put("max_tokens", 12)
        .put("ignore_eos", true)
        .put("return_token_ids", true);
  }

  private ObjectNode prefillRequest(KvConnector connector, ObjectNode request, String id) {
    ObjectNode body = request.deepCopy();
    switch (connector) {
      case SGLANG -> {
        return room(body, id);
      }
      case TRTLLM ->
          body.put("stream", false)
              .putObject("disaggregated_params")
              .put("request_type", "context_only");
      default -> {
        body.put("stream", false);
        body.put(body.has("input") ? "max_output_tokens" : "max_tokens", 1);
        ObjectNode params = body.putObject("kv_transfer_params");
        if (connector == KvConnector.OFFLOADING) {
          params.putObject("remote_decoder").put("kv_request_id", id);
        } else {
          params.put("do_remote_decode", true).put("do_remote_prefill", false);
          params.put("transfer_id", id);
        }
      }
    }
    return body;
  }

  private ObjectNode decodeRequest(
      KvConnector connector, ObjectNode request, String id, JsonNode computed) throws Exception {
    ObjectNode body = request.deepCopy();
    switch (connector) {
      case SGLANG -> {
        return room(body, id);
      }
      case TRTLLM -> {
        body.set("prompt", computed.path("prompt_token_ids"));
        ObjectNode params =
            computed.path("choices").path(0).path("disaggregated_params").deepCopy();
        body.set("disaggregated_params", params.put("request_type", "generation_only"));
      }
      case OFFLOADING ->
          body.putObject("kv_transfer_params")
              .putObject("remote_prefiller")
              .put("kv_request_id", id)
              .put("remote_host", "127.0.0.1")
              .put("remote_port", prefill.ports().http());
      case MOONCAKE ->
          body.putObject("kv_transfer_params")
              .put("do_remote_decode", false)
              .put("do_remote_prefill", true)
              .put("transfer_id", id)
              .put("remote_bootstrap_addr", prefill.url())
              .put("remote_engine_id", get(prefill, "/query").path("0").path("engine_id").asText());
      default -> body.set("kv_transfer_params", computed.path("kv_transfer_params"));
    }
    return body;
  }

  private ObjectNode room(ObjectNode body, String id) {
    return body.put("bootstrap_host", "127.0.0.1")
        .put("bootstrap_port", prefill.ports().http())
        .put("bootstrap_room", Long.parseLong(id));
  }

  private static HttpResponse<String> post(LiveEngine engine, ObjectNode body) throws Exception {
    return post(engine, "/v1/completions", body);
  }

  private static HttpResponse<String> post(LiveEngine engine, String path, ObjectNode body)
      throws Exception {
    return HTTP.send(to(engine, path, body), BodyHandlers.ofString());
  }

  private static CompletableFuture<HttpResponse<String>> postAsync(
      LiveEngine engine, ObjectNode body) {
    return HTTP.sendAsync(to(engine, "/v1/completions", body), BodyHandlers.ofString());
  }

  private static HttpRequest to(LiveEngine engine, String path, ObjectNode body) {
    return HttpRequest.newBuilder(URI.create(engine.url() + path))
        .POST(BodyPublishers.ofString(body.toString()))
        .build();
  }

  private static JsonNode get(LiveEngine engine, String path) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(engine.url() + path)).build();
    return JSON.readTree(HTTP.send(request, BodyHandlers.ofString()).body());
  }

  private static JsonNode json(HttpResponse<String> response) throws IOException {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JSON.readTree(response.body());
  }

  private static ObjectNode object(String body) throws IOException {
    return (ObjectNode) JSON.readTree(body);
  }

  private static int cached(JsonNode answer) {
    return answer.path("usage").path("prompt_tokens_details").path("cached_tokens").asInt(-1);
  }

  private static void awaitMetric(LiveEngine engine, String name, int value) throws Exception {
    while (metric(engine, name, "") != value) {
      Thread.onSpinWait();
    }
  }

  /** A figure of its metrics page, rounded up; -1 if it is not there. */
  private static int metric(LiveEngine engine, String name, String source) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(engine.url() + "/metrics")).build();
    String page = HTTP.send(request, BodyHandlers.ofString()).body();
    String labels = source.isEmpty() ? "[^}]*" : "[^}]*source=\"" + source + "\"";
    Matcher matcher =
        Pattern.compile("(?m)^(?:vllm:)?" + name + "\\{" + labels + "} (\\S+)$").matcher(page);
    return matcher.find() ? (int) Math.ceil(Double.parseDouble(matcher.group(1))) : -1;
  }
}
