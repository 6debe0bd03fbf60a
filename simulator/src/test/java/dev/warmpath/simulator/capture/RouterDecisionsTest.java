package dev.warmpath.simulator.capture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.RouterProcess;
import dev.warmpath.simulator.TestRouters;
import dev.warmpath.simulator.demo.FleetPage;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.simulator.trace.LoggedRequest;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceFile;
import dev.warmpath.simulator.trace.TraceFormat;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a router logs of a fleet can be replayed. */
@Timeout(300)
class RouterDecisionsTest {

  @TempDir private Path dir;

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void aLogIsATraceOfTheSameSessionsAndPrefixes() throws Exception {
    Path file = dir.resolve("decisions.jsonl");
    KvCacheConfig cache = KvCacheConfig.fullAttention(16, 2_000);
    EngineConfig config = new EngineConfig(cache, 2048, 32, 8192, new StepCost(1, 0.01, 0, 0));
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded();
        LiveEngines engines = new LiveEngines(tokenizer)) {
      LiveEngine engine = engines.start(LiveEngineOptions.of("sim", config));
      try (RouterProcess router = router(engine, file)) {
        String first = "It was a dark and stormy night in the city. ".repeat(40);
        send(router, "a", first);
        send(router, "b", "Another story begins in another way. ".repeat(40));
        send(router, "a", first + "And then it went on for a while. ".repeat(40));
      }
    }
    List<LoggedRequest> log = LoggedRequest.readAll(file);
    assertThat(log).hasSize(3).allMatch(LoggedRequest::isReplayable);
    assertThat(log).allMatch(request -> request.times().firstToken() > request.times().dispatch());
    assertThat(log).allMatch(request -> request.tokens().answer() == 5);
    Trace trace = TraceFile.read(file, TraceFormat.DECISIONS, Integer.MAX_VALUE);
    assertThat(trace.after(1)).isEqualTo(Trace.NONE);
    assertThat(trace.after(2)).isEqualTo(0);
    for (int i = 0; i < 3; i++) {
      assertThat(trace.promptTokens(i)).isEqualTo(log.get(i).tokens().prompt());
      assertThat(trace.answerTokens(i)).isEqualTo(5);
      assertThat(trace.blocks(i)).isEqualTo(trace.promptTokens(i) / 64);
    }
    int shared = Arrays.mismatch(trace.blockNumbers(0), trace.blockNumbers(2));
    assertThat(shared).isEqualTo(trace.blocks(0));
    assertThat(Arrays.mismatch(trace.blockNumbers(0), trace.blockNumbers(1))).isZero();
    assertThat(log.get(2).tokens().cached()).isBetween(64 * shared, 64 * shared + 63);
  }

  private static RouterProcess router(LiveEngine engine, Path file) throws Exception {
    RouterProcess router =
        RouterProcess.start(
            TestRouters.patientWithModel()
                .set("decision-log.file", file.toString(), "test")
                .put("replicas", TestRouters.replica("e", engine), "test")
                .config());
    FleetPage page = new FleetPage("http://127.0.0.1:" + router.adminPort());
    assertThat(page.awaitReady(Duration.ofSeconds(60))).isTrue();
    return router;
  }

  private void send(RouterProcess router, String session, String prompt) throws Exception {
    String body =
        "{\"model\":\"sim\",\"max_tokens\":5,\"stream\":true,"
            + "\"stream_options\":{\"include_usage\":true},\"prompt\":\""
            + prompt
            + "\"}";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + router.port() + "/v1/completions"))
            .header("content-type", "application/json")
            .header("x-session-id", session)
            .POST(BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).contains("[DONE]");
  }
}
