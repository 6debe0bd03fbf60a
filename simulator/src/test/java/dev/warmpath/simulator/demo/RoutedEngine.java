package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.simulator.TestRouters;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.simulator.live.PublisherOptions;
import dev.warmpath.simulator.live.WireForm;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** One simulated engine, and routers that come and go in front of it. */
final class RoutedEngine implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private static final String EMBEDDED = "embedded";

  private final ModelTokenizer tokenizer;
  private final String tokenizerPlace;
  private final LiveEngines launcher;
  private final LiveEngine engine;

  /** A vLLM. */
  RoutedEngine() {
    this(WireForm.MAP, Map.of());
  }

  /**
   * Any engine.
   *
   * @param adapters their paths by name
   */
  RoutedEngine(WireForm form, Map<String, String> adapters) {
    this(form, adapters, ModelTokenizer.embedded(), EMBEDDED);
  }

  /** A vLLM with the model in this directory. */
  RoutedEngine(Path model) {
    this(model, model);
  }

  /** A vLLM whose router has the model from another directory. */
  RoutedEngine(Path model, Path ofRouter) {
    this(WireForm.MAP, Map.of(), ModelTokenizer.load(model), ofRouter.toString());
  }

  /** An engine with the model in this directory, and blocks or pages of so many tokens. */
  RoutedEngine(WireForm form, int blockTokens, Path model) {
    this(form, blockTokens, Map.of(), ModelTokenizer.load(model), model.toString());
  }

  private RoutedEngine(
      WireForm form, Map<String, String> adapters, ModelTokenizer tokenizer, String place) {
    this(form, 16, adapters, tokenizer, place);
  }

  private RoutedEngine(
      WireForm form,
      int blockTokens,
      Map<String, String> adapters,
      ModelTokenizer tokenizer,
      String place) {
    this.tokenizer = tokenizer;
    this.tokenizerPlace = place;
    this.launcher = new LiveEngines(tokenizer);
    EngineConfig config =
        new EngineConfig(
            KvCacheConfig.fullAttention(blockTokens, 19_200 / blockTokens),
            2048,
            32,
            8192,
            new StepCost(2, 0.01, 0, 0));
    engine =
        launcher.start(
            LiveEngineOptions.of("sim", config)
                .with(PublisherOptions.DEFAULT.in(form, false), HashAlgorithm.SHA256)
                .with(adapters));
  }

  /** A body that asks for the completion of a text. */
  static String prompt(String text) {
    return "{\"model\":\"sim\",\"max_tokens\":2,\"prompt\":\"" + text.repeat(40) + "\"}";
  }

  LiveEngine engine() {
    return engine;
  }

  /** Puts something else behind the URL of an image. */
  void changeImage(String url) throws IOException, InterruptedException {
    post(engine.url() + "/change_image?url=" + URLEncoder.encode(url, StandardCharsets.UTF_8), "");
  }

  /** A router that follows the engine. */
  Router router(Map<String, Object> settings, Map<String, Object> ofReplica)
      throws ConfigException {
    Map<String, Object> replica = new TreeMap<>(ofReplica);
    replica.put("name", "e");
    replica.put("url", engine.url());
    replica.put("events", engine.eventsEndpoint());
    ConfigTree config =
        TestRouters.patient()
            .set("headers.cached-tokens", true, "test")
            .put("models", Map.of("name", "sim", "tokenizer", tokenizerPlace), "test")
            .put("replicas", replica, "test");
    for (Map.Entry<String, Object> setting : settings.entrySet()) {
      config = config.set(setting.getKey(), setting.getValue(), "test");
    }
    return new Router(RouterProcess.start(config.config()));
  }

  @Override
  public void close() {
    launcher.close();
    tokenizer.close();
  }

  /** What became of a request; −1 predicted tokens for none. */
  record Served(int predictedTokens, int cachedTokens, int promptTokens) {}

  /** A router under test, by its HTTP API. */
  record Router(RouterProcess process) implements AutoCloseable {

    /** Waits until the engine can be routed to, and its events would be heard. */
    Router ready() throws IOException, InterruptedException {
      while (explain(prompt("Ready? ")).path("engines").isEmpty() || !connected()) {
        Thread.onSpinWait();
      }
      return this;
    }

    private boolean connected() throws IOException, InterruptedException {
      return !events().path("reason").asText("not connected").startsWith("not connected");
    }

    /** Sends a body; the tokens that the router predicted to be cached. */
    int complete(String body) throws IOException, InterruptedException {
      HttpResponse<String> response =
          post("http://127.0.0.1:" + process.port() + "/v1/completions", body);
      return Integer.parseInt(
          response.headers().firstValue("x-warmpath-cached-tokens").orElse("0"));
    }

    /** Sends a body; what was predicted, and what the engine says. */
    Served serve(String body) throws IOException, InterruptedException {
      return serve("/v1/completions", body);
    }

    /** The same by another route. */
    Served serve(String path, String body) throws IOException, InterruptedException {
      HttpResponse<String> response = post("http://127.0.0.1:" + process.port() + path, body);
      JsonNode usage = JSON.readTree(response.body()).path("usage");
      return new Served(
          Integer.parseInt(response.headers().firstValue("x-warmpath-cached-tokens").orElse("-1")),
          usage.path("prompt_tokens_details").required("cached_tokens").asInt(),
          usage.required("prompt_tokens").asInt());
    }

    /** Tokens of a body that the router knows to be there. */
    int matchedTokens(String body) throws IOException, InterruptedException {
      return explain(body).path("engines").path(0).required("matchedTokens").asInt();
    }

    /** How far the engine's events are believed, and why. */
    JsonNode events() throws IOException, InterruptedException {
      JsonNode fleet = JSON.readTree(read("/admin/fleet"));
      return fleet.path("replicas").path(0).path("engines").path(0).path("events");
    }

    /** What is counted of the engine's stream. */
    long counter(String what) throws IOException, InterruptedException {
      return events().path("counters").required(what).asLong();
    }

    String metrics() throws IOException, InterruptedException {
      return read("/metrics");
    }

    private JsonNode explain(String body) throws IOException, InterruptedException {
      return JSON.readTree(post(admin() + "/admin/explain", body).body());
    }

    private String read(String path) throws IOException, InterruptedException {
      HttpRequest request = HttpRequest.newBuilder(URI.create(admin() + path)).build();
      return HTTP.send(request, BodyHandlers.ofString()).body();
    }

    private String admin() {
      return "http://127.0.0.1:" + process.adminPort();
    }

    @Override
    public void close() {
      process.close();
    }
  }

  private static HttpResponse<String> post(String url, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> response = HTTP.send(request, BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return response;
  }
}
