package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** What responses teach about an engine's speed and health, and what they do not. */
class EngineSpeedTest {

  private static final String USAGE =
      "{\"usage\":{\"prompt_tokens\":%d,\"prompt_tokens_details\":{\"cached_tokens\":0}}}";
  private static final long DELAY_MS = 300;

  @Test
  void onlyAStreamTeachesTheEnginesSpeed() throws Exception {
    try (Rig rig = new Rig(1, EngineSpeedTest::withTokenizer)) {
      String prompt = "\"model\":\"m\",\"prompt\":\"one two three\"";
      int tokens = promptTokens(rig, "{" + prompt + "}");
      rig.backends.get(0).script =
          (request, body) ->
              after(rig, DELAY_MS, () -> request.response().end(USAGE.formatted(tokens)));
      completion(rig, "{" + prompt + "}");
      assertThat(report(rig).state().prefillSamples()).isZero();
      rig.backends.get(0).script =
          (request, body) ->
              after(rig, DELAY_MS, () -> stream(request).end(event(USAGE.formatted(tokens))));
      completion(rig, "{\"stream\":true," + prompt + "}");
      assertThat(report(rig).state().prefillSamples()).isEqualTo(1);
      rig.untilIdle();
    }
  }

  @Test
  void whatOpensAStreamIsNotItsFirstToken() throws Exception {
    try (Rig rig = new Rig(1, EngineSpeedTest::withTokenizer)) {
      Queue<HttpServerResponse> open = new ConcurrentLinkedQueue<>();
      rig.backends.get(0).script =
          (request, body) -> {
            HttpServerResponse response = stream(request);
            response.write("event: response.created\ndata: {}\n\n");
            response.write("event: response.in_progress\ndata: {}\n\n");
            open.add(response);
          };
      try (RawClient client = new RawClient(rig.router.port())) {
        client.post("/v1/responses", "{\"stream\":true,\"model\":\"m\",\"input\":\"hello you\"}");
        client.readUntil("response.in_progress");
        assertThat(report(rig).state().load().queuedPrefillTokens()).isPositive();
        Rig.until(() -> !open.isEmpty());
        open.remove().end("event: response.output_text.delta\ndata: {}\n\n");
        client.readUntil("output_text");
        Rig.until(() -> report(rig).state().load().queuedPrefillTokens() == 0);
      }
      rig.untilIdle();
    }
  }

  @Test
  void thePromptOfAPlainResponseDoesNotQueueUntilItsEnd() throws Exception {
    try (Rig rig = new Rig(1, EngineSpeedTest::withTokenizer)) {
      Queue<HttpServerRequest> held = new ConcurrentLinkedQueue<>();
      rig.backends.get(0).script = (request, body) -> held.add(request);
      CompletableFuture<HttpResponse<byte[]>> later =
          rig.chatLater("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
      Rig.until(() -> held.size() == 1);
      Rig.until(() -> report(rig).state().load().queuedPrefillTokens() == 0);
      assertThat(report(rig).state().load().requestsInFlight()).isEqualTo(1);
      held.remove().response().end("{}");
      later.join();
    }
  }

  @Test
  void aPromptThatIsNotReadWeighsWhatItsBytesMay() throws Exception {
    try (Rig rig = new Rig(1)) {
      Queue<HttpServerRequest> held = new ConcurrentLinkedQueue<>();
      rig.backends.get(0).script = (request, body) -> held.add(request);
      CompletableFuture<HttpResponse<byte[]>> later =
          rig.chatLater("{\"stream\":true,\"prompt\":\"" + "x".repeat(40_000) + "\"}");
      Rig.until(() -> held.size() == 1);
      assertThat(report(rig).state().load().queuedPrefillTokens()).isBetween(9_000L, 11_000L);
      held.remove().response().end("{}");
      later.join();
      rig.untilIdle();
    }
  }

  @Test
  void onlyAStreamThatCameAsItWasMadeTeachesWhatAStepTakes() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("limits.client-buffer-bytes", 65_536, "test"))) {
      stream(rig, 20, 1, SHORT_PAD, 0);
      assertThat(stepMillis(rig)).isEqualTo(15);
      stream(rig, 20, 40, FLOOD_PAD, 1_500);
      assertThat(stepMillis(rig)).as("the client paused").isEqualTo(15);
      for (int i = 0;
          i < 20 && stepMillis(rig) == 15;
          i++) { // it may look paused on a busy machine
        stream(rig, 200, 40, SHORT_PAD, 0);
      }
      assertThat(stepMillis(rig)).as("200 tokens in a moment").isLessThan(15);
    }
  }

  private static final int SHORT_PAD = 10;
  private static final int FLOOD_PAD = 1 << 20;

  private static double stepMillis(Rig rig) {
    return Objects.requireNonNull(rig.router.dispatcher().engine("r0")).fullMillis(1, 0, 1);
  }

  /** So many chunks that come one after the other bring so many tokens. */
  private static void stream(Rig rig, int tokens, int chunks, int pad, long clientWaitsMs)
      throws Exception {
    AtomicBoolean isWritten = new AtomicBoolean();
    rig.backends.get(0).script =
        (request, body) -> {
          HttpServerResponse to = stream(request);
          String usage = "{\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":" + tokens + "}}";
          write(rig, to, chunks, event("{\"a\":\"" + "x".repeat(pad) + "\"}"), event(usage));
          isWritten.set(true);
        };
    try (RawClient client = new RawClient(rig.router.port(), 16_384)) {
      client.postAndClose("/v1/chat/completions", "{\"stream\":true,\"model\":\"m\"}");
      Rig.until(isWritten::get);
      Thread.sleep(clientWaitsMs);
      client.readToEnd();
    }
    rig.untilIdle();
  }

  private static void write(
      Rig rig, HttpServerResponse to, int chunks, String content, String last) {
    if (chunks == 1) {
      to.end(content + last);
    } else {
      to.write(content);
      after(rig, 3, () -> write(rig, to, chunks - 1, content, last));
    }
  }

  @Test
  void slowClientsDoNotMakeAnEngineLookIll() throws Exception {
    try (Rig rig =
        new Rig(
            1,
            tree ->
                tree.set("timeouts.stream-idle-ms", 100, "test")
                    .set("limits.client-buffer-bytes", 65_536, "test"))) {
      for (int i = 0; i < 4; i++) {
        rig.backends.get(0).script = new Flood();
        try (RawClient client = new RawClient(rig.router.port(), 16_384)) {
          client.postAndClose("/v1/chat/completions", "{\"model\":\"m\"}");
          Rig.until(() -> rig.backends.get(0).resets.get() > 0);
          rig.untilIdle();
          rig.backends.get(0).resets.set(0);
        }
      }
      assertThat(report(rig).state().ejected()).isFalse();
      assertThat(rig.metrics())
          .containsEntry("warmpath_outcomes_total{engine=\"r0\",outcome=\"cancelled\"}", 4.0);
    }
  }

  /** The sockets on the way hold up to some 37 MiB of their own, by the kernel's usual bounds. */
  @Test
  void soMuchIsHeldForASlowClientAsIsConfigured() throws Exception {
    takenFromTheEngine(40 << 20, flood -> flood.sent() >= 40 << 20);
    assertThat(takenFromTheEngine(1 << 16, Flood::isStalled)).isLessThan(40 << 20);
  }

  private static int takenFromTheEngine(int clientBufferBytes, Predicate<Flood> until)
      throws Exception {
    try (Rig rig =
        new Rig(1, tree -> tree.set("limits.client-buffer-bytes", clientBufferBytes, "test"))) {
      Flood flood = new Flood();
      rig.backends.get(0).script = flood;
      try (RawClient client = new RawClient(rig.router.port(), 16_384)) {
        client.postAndClose("/v1/chat/completions", "{\"model\":\"m\"}");
        Rig.until(() -> until.test(flood));
        return flood.sent();
      }
    }
  }

  private static int promptTokens(Rig rig, String body) throws Exception {
    Queue<HttpServerRequest> held = new ConcurrentLinkedQueue<>();
    Backend backend = rig.backends.get(0);
    backend.script = (request, ignored) -> held.add(request);
    CompletableFuture<HttpResponse<byte[]>> later =
        rig.http.sendAsync(
            rig.post("/v1/completions", body.getBytes(UTF_8)).build(),
            HttpResponse.BodyHandlers.ofByteArray());
    Rig.until(() -> held.size() == 1);
    int tokens = (int) report(rig).state().load().contextTokens();
    held.remove().response().end("{}");
    later.get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    rig.untilIdle();
    return tokens;
  }

  private static void completion(Rig rig, String body) throws Exception {
    HttpResponse<byte[]> response =
        rig.send(rig.post("/v1/completions", body.getBytes(UTF_8)).build());
    assertThat(response.statusCode()).isEqualTo(200);
    rig.untilIdle();
  }

  private static EngineReport report(Rig rig) {
    return rig.router.dispatcher().report().get(0);
  }

  private static HttpServerResponse stream(HttpServerRequest request) {
    return request.response().setChunked(true).putHeader("content-type", "text/event-stream");
  }

  private static String event(String data) {
    return "data: " + data + "\n\n";
  }

  private static void after(Rig rig, long delayMs, Runnable work) {
    rig.vertx().setTimer(delayMs, id -> work.run());
  }

  private static ConfigTree withTokenizer(ConfigTree tree) {
    return tree.set("policy.name", "warm", "test")
        .put("models", Map.of("name", "m", "tokenizer", "embedded"), "test");
  }
}
