package dev.warmpath.simulator.live;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LiveEngineTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static ModelTokenizer tokenizer;
  private static LiveEngines engines;

  private final LiveEngine engine = engines.start(options());

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
    engine.close();
  }

  static LiveEngineOptions options() {
    EngineConfig config =
        new EngineConfig(
            KvCacheConfig.fullAttention(16, 400), 512, 16, 2048, new StepCost(1, 0.01, 0, 0));
    return LiveEngineOptions.of("sim", config)
        .with(Map.of("lora1", "/adapters/lora1"))
        .pace(10, 32);
  }

  @Test
  void secondTurnReusesPromptAndAnswer() throws Exception {
    String system = "You route requests to engines. ".repeat(20);
    JsonNode first = chat(system, List.of("Where is it warm?"));
    String answer = first.path("choices").path(0).path("message").path("content").asText();
    assertThat(answer).isNotBlank();
    assertThat(first.path("choices").path(0).path("finish_reason").asText()).isEqualTo("stop");
    assertThat(cached(first)).isZero();

    JsonNode second = chat(system, List.of("Where is it warm?", answer, "And now?"));

    int generatedAndPrompt =
        first.path("usage").path("prompt_tokens").asInt()
            + first.path("usage").path("completion_tokens").asInt();
    assertThat(cached(second)).isEqualTo((generatedAndPrompt - 1) / 16 * 16);
  }

  @Test
  void aRequestLoadsNoMoreThanItsCap() throws Exception {
    EngineConfig base = options().engine();
    EngineConfig tiered =
        new EngineConfig(
            base.cache().withHost(4000),
            base.stepTokens(),
            base.runningSequences(),
            base.maxModelTokens(),
            base.cost());
    LiveEngineOptions sizes = LiveEngineOptions.of("sim", tiered).pace(10, 32);
    try (LiveEngines others = new LiveEngines(tokenizer);
        LiveEngine host = others.start(sizes)) {
      assertThat(cached(load(host, 1, ""))).isZero();
      for (int other = 2; other < 8; other++) {
        load(host, other, "");
      }
      assertThat(cached(load(host, 1, ",\"kv_transfer_params\":{\"max_load_tokens\":100}")))
          .isEqualTo(96);
      for (int other = 2; other < 8; other++) {
        load(host, other, ",\"kv_transfer_params\":{\"max_load_tokens\":0}");
      }
      assertThat(cached(load(host, 1, ",\"kv_transfer_params\":{\"max_load_tokens\":0}"))).isZero();
      for (int other = 2; other < 8; other++) {
        load(host, other, ",\"kv_transfer_params\":{\"max_load_tokens\":-1}");
      }
      assertThat(cached(load(host, 1, ",\"kv_transfer_params\":{\"max_load_tokens\":true}")))
          .isEqualTo(1600 - 16);
    }
  }

  /** A prompt of 1600 tokens; the GPU holds four such. */
  private static JsonNode load(LiveEngine engine, int prompt, String params) throws Exception {
    String ids =
        IntStream.range(0, 1600).mapToObj(i -> "" + (prompt + i % 7)).collect(joining(","));
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(engine.url() + "/v1/completions"))
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"model\":\"sim\",\"prompt\":[" + ids + "],\"max_tokens\":1" + params + "}"))
            .build();
    return JSON.readTree(
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
  }

  @Test
  void streamCarriesTheSameTextInPieces() throws Exception {
    String body =
        "{\"model\":\"sim\",\"prompt\":\"Blocks and paths\",\"max_tokens\":9,\"ignore_eos\":true";
    JsonNode whole = json(post("/v1/completions", body + "}"));
    String stream =
        post(
                "/v1/completions",
                body + ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}")
            .body();

    List<String> events =
        stream.lines().filter(line -> line.startsWith("data: ")).map(l -> l.substring(6)).toList();
    assertThat(events.get(events.size() - 1)).isEqualTo("[DONE]");
    StringBuilder text = new StringBuilder();
    for (String event : events.subList(0, events.size() - 1)) {
      text.append(JSON.readTree(event).path("choices").path(0).path("text").asText(""));
    }
    assertThat(text.toString())
        .isEqualTo(whole.path("choices").path(0).path("text").asText())
        .isNotEmpty();
    JsonNode usage = JSON.readTree(events.get(events.size() - 2)).path("usage");
    assertThat(usage.path("completion_tokens").asInt()).isEqualTo(9);
    assertThat(usage.path("prompt_tokens_details").path("cached_tokens").isInt()).isTrue();
  }

  @Test
  void messagesAreAnsweredWholeAndInEvents() throws Exception {
    String body =
        "{\"max_tokens\":9,\"ignore_eos\":true,\"system\":\"Blocks and paths are kept warm here,"
            + " always.\",\"messages\":[{\"role\":\"user\",\"content\":\"Where is it warm?\"}]";
    JsonNode whole = json(post("/v1/messages", body + "}"));
    JsonNode counted = json(post("/v1/messages/count_tokens", body + "}"));
    assertThat(counted.path("input_tokens").asInt())
        .isEqualTo(
            whole.path("usage").path("input_tokens").asInt()
                + whole.path("usage").path("cache_read_input_tokens").asInt());
    String text = whole.path("content").path(0).path("text").asText();
    assertThat(whole.path("stop_reason").asText()).isEqualTo("max_tokens");
    assertThat(whole.path("usage").path("output_tokens").asInt()).isEqualTo(9);

    List<JsonNode> events = events(post("/v1/messages", body + ",\"stream\":true}").body());
    assertThat(events.get(0).path("type").asText()).isEqualTo("message_start");
    assertThat(joined(events, event -> event.path("delta").path("text"))).isEqualTo(text);
    JsonNode usage = events.get(events.size() - 2).path("usage");
    assertThat(usage.path("cache_read_input_tokens").asInt()).isPositive();
    assertThat(usage.path("cache_read_input_tokens").asInt() + usage.path("input_tokens").asInt())
        .isEqualTo(whole.path("usage").path("input_tokens").asInt());
  }

  @Test
  void responsesAreAnsweredWholeAndInEvents() throws Exception {
    String body =
        "{\"max_output_tokens\":9,\"ignore_eos\":true,\"instructions\":\"Blocks and paths are kept"
            + " warm.\",\"input\":\"Where is it warm?\"";
    JsonNode whole = json(post("/v1/responses", body + "}"));
    String text = whole.path("output").path(0).path("content").path(0).path("text").asText();
    assertThat(text).isNotBlank();
    assertThat(whole.path("status").asText()).isEqualTo("incomplete");

    List<JsonNode> events = events(post("/v1/responses", body + ",\"stream\":true}").body());
    assertThat(joined(events, event -> event.path("delta"))).isEqualTo(text);
    JsonNode completed = events.get(events.size() - 1).path("response");
    assertThat(completed.path("output").path(0).path("content").path(0).path("text").asText())
        .isEqualTo(text);
    JsonNode usage = completed.path("usage");
    assertThat(usage.path("input_tokens")).isEqualTo(whole.path("usage").path("input_tokens"));
    assertThat(usage.path("input_tokens_details").path("cached_tokens").asInt()).isPositive();
  }

  private static List<JsonNode> events(String stream) throws IOException {
    List<JsonNode> events = new ArrayList<>();
    for (String line : stream.split("\n")) {
      if (line.startsWith("data: ")) {
        events.add(JSON.readTree(line.substring(6)));
      }
    }
    return events;
  }

  private static String joined(List<JsonNode> events, Function<JsonNode, JsonNode> text) {
    StringBuilder joined = new StringBuilder();
    events.forEach(event -> joined.append(text.apply(event).asText("")));
    return joined.toString();
  }

  @Test
  void tokenIdsAreEchoedAndEqualTokenize() throws Exception {
    JsonNode answer =
        json(
            post(
                "/v1/completions",
                "{\"prompt\":\"Where is it warm?\",\"return_token_ids\":true,\"max_tokens\":3}"));
    JsonNode tokens = json(post("/tokenize", "{\"prompt\":\"Where is it warm?\"}"));

    JsonNode choice = answer.path("choices").path(0);
    assertThat(choice.path("prompt_token_ids")).isEqualTo(tokens.path("tokens"));
    assertThat(choice.path("token_ids")).hasSize(3);
    assertThat(choice.path("finish_reason").asText()).isEqualTo("length");
    assertThat(tokens.path("count").asInt()).isEqualTo(tokens.path("tokens").size());
  }

  @Test
  void severalPromptsGiveSeveralChoices() throws Exception {
    JsonNode answer =
        json(post("/v1/completions", "{\"prompt\":[[1,2,3],[4,5,6]],\"max_tokens\":2}"));

    assertThat(answer.path("choices")).hasSize(2);
    assertThat(answer.path("usage").path("prompt_tokens").asInt()).isEqualTo(6);
  }

  @Test
  void errorsHaveTheFormOfOpenAi() throws Exception {
    assertThat(error(post("/v1/completions", "no json"))).isEqualTo("400 BadRequestError");
    assertThat(error(post("/v1/completions", "{\"model\":\"x\",\"prompt\":\"a\"}")))
        .isEqualTo("404 NotFoundError");
    assertThat(error(post("/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":4096}")))
        .isEqualTo("400 BadRequestError");
    assertThat(error(post("/v1/chat/completions", "{}"))).isEqualTo("400 BadRequestError");
  }

  @Test
  void modelsListAdaptersWithTheirPaths() throws Exception {
    JsonNode data = json(get("/v1/models")).path("data");

    assertThat(data.findValuesAsText("id")).containsExactly("sim", "lora1");
    assertThat(data.path(1).path("root").asText()).isEqualTo("/adapters/lora1");
    assertThat(data.path(1).path("parent").asText()).isEqualTo("sim");
  }

  @Test
  void adaptersDoNotShareBlocks() throws Exception {
    String prompt = "\"prompt\":\"" + "One two three four. ".repeat(20) + "\",\"max_tokens\":1}";
    assertThat(cached(json(post("/v1/completions", "{" + prompt)))).isZero();
    assertThat(cached(json(post("/v1/completions", "{\"model\":\"lora1\"," + prompt)))).isZero();
    assertThat(cached(json(post("/v1/completions", "{" + prompt)))).isPositive();
    assertThat(cached(json(post("/v1/completions", "{\"model\":\"lora1\"," + prompt))))
        .isPositive();
  }

  @Test
  void metricsAndSourcesSpeakAsVllmDoes() throws Exception {
    post("/v1/completions", "{\"prompt\":\"a b c\",\"max_tokens\":4}");

    String idle = "vllm:num_requests_running{engine=\"0\",model_name=\"sim\"} 0.0";
    String page = get("/metrics").body();
    while (!page.contains(idle)) { // the step that made the last token ends after the answer
      page = get("/metrics").body();
    }
    assertThat(page)
        .contains("vllm:generation_tokens_total{engine=\"0\",model_name=\"sim\"} 4.0")
        .contains("vllm:time_to_first_token_seconds_count{engine=\"0\",model_name=\"sim\"} 1")
        .contains("num_gpu_blocks=\"400\"");
    JsonNode source = json(get("/kv_event_sources")).path("0");
    assertThat(source.path("endpoint").asText()).endsWith(":" + engine.ports().events());
    assertThat(get("/health").statusCode()).isEqualTo(200);
  }

  @Test
  void resetEmptiesTheCache() throws Exception {
    String body = "{\"prompt\":\"" + "One two three four. ".repeat(20) + "\",\"max_tokens\":1}";
    post("/v1/completions", body);
    assertThat(cached(json(post("/v1/completions", body)))).isPositive();
    assertThat(json(post("/reset_prefix_cache", "")).path("success").asBoolean()).isTrue();
    assertThat(cached(json(post("/v1/completions", body)))).isZero();
  }

  @Test
  void restartComesBackEmptyOnTheSamePorts() throws Exception {
    String body = "{\"prompt\":\"" + "One two three four. ".repeat(20) + "\",\"max_tokens\":1}";
    post("/v1/completions", body);
    Ports ports = engine.ports();

    engine.kill();
    engine.restart();

    assertThat(engine.ports()).isEqualTo(ports);
    assertThat(cached(json(post("/v1/completions", body)))).isZero();
  }

  @Test
  void requestOfAClientThatLeavesIsAborted() throws Exception {
    try (LiveEngine slow = engines.start(options().pace(0.05, 32))) {
      stream(slow).body().close();

      while (slow.load().running() > 0) {
        Thread.onSpinWait();
      }
      HttpRequest metrics = HttpRequest.newBuilder(URI.create(slow.url() + "/metrics")).build();
      String page = "";
      while (!page.contains("finished_reason=\"abort\"} 1.0")) {
        page = HTTP.send(metrics, BodyHandlers.ofString()).body();
      }
    }
  }

  @Test
  void killBreaksStreamsInTheMiddle() throws Exception {
    try (LiveEngine slow = engines.start(options().pace(0.05, 32))) {
      HttpResponse<InputStream> response = stream(slow);
      slow.kill();

      String rest;
      try {
        rest = new String(response.body().readAllBytes(), StandardCharsets.UTF_8);
      } catch (IOException broken) {
        rest = "";
      }
      assertThat(rest).doesNotContain("[DONE]");
    }
  }

  @Test
  void engineThatCannotBeginLeavesItsPortsFree() {
    engine.kill();
    Ports ports = engine.ports();

    assertThatThrownBy(() -> engines.start(options().at(ports).pace(1e-4, 32)))
        .hasMessageContaining("speed=1.0E-4");

    try (LiveEngine next = engines.start(options().at(ports))) {
      assertThat(next.ports()).isEqualTo(ports);
    }
  }

  /** An endless stream whose first byte has come. */
  private static HttpResponse<InputStream> stream(LiveEngine engine) throws Exception {
    String body = "{\"prompt\":\"a\",\"max_tokens\":2000,\"ignore_eos\":true,\"stream\":true}";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(engine.url() + "/v1/completions"))
            .POST(BodyPublishers.ofString(body))
            .build();
    HttpResponse<InputStream> response = HTTP.send(request, BodyHandlers.ofInputStream());
    response.body().read();
    return response;
  }

  private JsonNode chat(String system, List<String> turns) throws Exception {
    var body = JSON.createObjectNode().put("model", "sim");
    var messages = body.putArray("messages");
    messages.addObject().put("role", "system").put("content", system);
    for (int i = 0; i < turns.size(); i++) {
      messages
          .addObject()
          .put("role", i % 2 == 0 ? "user" : "assistant")
          .put("content", turns.get(i));
    }
    return json(post("/v1/chat/completions", body.toString()));
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return HTTP.send(request(path, body), BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String path) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(engine.url() + path)).build();
    return HTTP.send(request, BodyHandlers.ofString());
  }

  private HttpRequest request(String path, String body) {
    return HttpRequest.newBuilder(URI.create(engine.url() + path))
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  private static JsonNode json(HttpResponse<String> response) throws IOException {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JSON.readTree(response.body());
  }

  private static String error(HttpResponse<String> response) throws IOException {
    JsonNode error = JSON.readTree(response.body()).path("error");
    assertThat(error.path("code").asInt()).isEqualTo(response.statusCode());
    assertThat(error.path("message").asText()).isNotBlank();
    return response.statusCode() + " " + error.path("type").asText();
  }

  private static int cached(JsonNode answer) {
    return answer.path("usage").path("prompt_tokens_details").path("cached_tokens").asInt(-1);
  }
}
