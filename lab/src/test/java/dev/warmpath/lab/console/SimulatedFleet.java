package dev.warmpath.lab.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.warmpath.simulator.demo.ChatClient;
import dev.warmpath.simulator.demo.ChatLoad;
import dev.warmpath.simulator.demo.Demo.DemoFleet;
import dev.warmpath.simulator.demo.LoadRun;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A router before simulated engines, {@code engine-0} and so on, that have served some chats. */
final class SimulatedFleet implements AutoCloseable {

  private static final String MODEL = "sim";
  private static final Duration HANG = Duration.ofSeconds(30);

  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private final HttpClient http = HttpClient.newHttpClient();
  private final DemoFleet fleet;

  SimulatedFleet(int engines, int requests) throws InterruptedException {
    fleet = new DemoFleet(tokenizer, engine(), engines, "warm");
    fleet.awaitReady();
    ChatClient client = new ChatClient(fleet.url(), Duration.ofSeconds(60), System::nanoTime);
    new LoadRun(new ChatLoad(MODEL, requests, 3 * engines, 10, 3, 40, 60, 8, 1), client, 4, n -> {})
        .run();
  }

  private static LiveEngineOptions engine() {
    KvCacheConfig cache = KvCacheConfig.fullAttention(16, 600);
    LiveEngineOptions options =
        LiveEngineOptions.of(
            MODEL, new EngineConfig(cache, 1024, 64, cache.maxSequenceTokens(), StepCost.H100X4));
    return options.pace(20, options.answerTokens());
  }

  LiveEngine engine(int number) {
    return fleet.engines().get(number);
  }

  /** The address of a view of the console. */
  String view(String name) {
    return fleet.adminUrl() + "/admin/ui#" + name;
  }

  /** A chat request. */
  static String body(String prompt) throws JsonProcessingException {
    Map<String, String> message = Map.of("role", "user", "content", prompt);
    return new ObjectMapper()
        .writeValueAsString(Map.of("model", MODEL, "max_tokens", 2, "messages", List.of(message)));
  }

  void chat(String prompt) throws Exception {
    post(fleet.url() + "/v1/chat/completions", body(prompt));
  }

  /** Posts to a path below {@code /admin/}. */
  void admin(String path, String json) throws Exception {
    post(fleet.adminUrl() + "/admin/" + path, json);
  }

  private void post(String url, String json) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(json))
            .build();
    assertThat(http.send(request, BodyHandlers.discarding()).statusCode()).isEqualTo(200);
  }

  /** Waits until no page reads the console's stream. */
  void awaitNoListener() throws Exception {
    URI metrics = URI.create(fleet.adminUrl() + "/metrics");
    long deadlineNanos = System.nanoTime() + HANG.toNanos();
    String shown;
    do {
      assertThat(System.nanoTime() - deadlineNanos).as("pages still listen").isNegative();
      shown = http.send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofString()).body();
    } while (!shown.contains("warmpath_console_listeners 0"));
  }

  /** A replica as the router shows it; missing if there is none. */
  JsonNode replica(String name) throws InterruptedException {
    for (JsonNode each : fleet.fleetPage().path("replicas")) {
      if (each.path("name").asText().equals(name)) {
        return each;
      }
    }
    return MissingNode.getInstance();
  }

  @Override
  public void close() {
    fleet.close();
    tokenizer.close();
  }
}
