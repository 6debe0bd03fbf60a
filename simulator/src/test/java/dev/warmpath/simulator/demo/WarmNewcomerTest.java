package dev.warmpath.simulator.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.simulator.TestRouters;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An engine that joins computes what sessions share before it gets their requests. */
@Timeout(120)
class WarmNewcomerTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int SYSTEMS = 3;
  private static final StepCost QUICK = new StepCost(0.5, 0.01, 0, 0);

  private final HttpClient http = HttpClient.newHttpClient();
  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private final LiveEngines launcher = new LiveEngines(tokenizer);
  private final LiveEngine old = launcher.start(options(QUICK));

  @AfterEach
  void stop() {
    launcher.close();
    tokenizer.close();
  }

  private static LiveEngineOptions options(StepCost cost) {
    KvCacheConfig cache = KvCacheConfig.fullAttention(16, 4000);
    return LiveEngineOptions.of(
        "sim", new EngineConfig(cache, 8192, 32, cache.maxSequenceTokens(), cost));
  }

  @Test
  void itHoldsWhatSessionsShareBeforeTheyCome() throws Exception {
    LiveEngine newcomer = launcher.start(options(QUICK));
    try (RouterProcess router = router(10_000)) {
      double served = metric(router, "warmpath_assignments_total");
      add(router, newcomer);
      await(() -> "done".equals(state(router)));
      JsonNode prewarm = engine(router).path("prewarm");
      assertThat(prewarm.path("computed").asInt()).isEqualTo(SYSTEMS);
      assertThat(prewarm.path("tokens").asInt()).isGreaterThan(SYSTEMS * 500);
      assertThat(metric(router, "warmpath_prewarm_requests_total{engine=\"new\"")).isEqualTo(3);
      assertThat(metric(router, "warmpath_assignments_total")).isEqualTo(served);
      assertThat(metric(router, "warmpath_prompt_tokens_total{engine=\"new\"")).isZero();

      post(admin(router) + "/admin/replicas/old/drain", "");
      for (int system = 0; system < SYSTEMS; system++) {
        JsonNode usage = send(router, system, "somebody else");
        int cached = usage.path("prompt_tokens_details").path("cached_tokens").asInt();
        assertThat(cached).isGreaterThan(usage.path("prompt_tokens").asInt() - 64);
      }
      assertThat(metric(router, "warmpath_predictions_total{engine=\"new\",result=\"exact\"}"))
          .isEqualTo(SYSTEMS);
    }
  }

  @Test
  void aRequestBreaksItOff() throws Exception {
    LiveEngine newcomer = launcher.start(options(new StepCost(0.5, 3, 0, 0))); // 2 s a prefix
    try (RouterProcess router = router(30_000)) {
      add(router, newcomer);
      await(() -> newcomer.load().running() == 1);
      post(admin(router) + "/admin/replicas/old/drain", "");
      CompletableFuture<JsonNode> client =
          CompletableFuture.supplyAsync(() -> send(router, 9, "somebody"));
      await(() -> metric(router, "warmpath_prewarm_requests_total{engine=\"new\"") == 1);
      assertThat(
              metric(
                  router, "warmpath_prewarm_requests_total{engine=\"new\",result=\"broken_off\"}"))
          .isEqualTo(1);
      await(() -> newcomer.load().running() == 1 && newcomer.load().waiting() == 0);
      client.join();
      await(() -> newcomer.load().running() == 1); // it goes on
      assertThat(state(router)).isEqualTo("running");
    }
  }

  @Test
  void anOperatorAsksAgain() throws Exception {
    LiveEngine newcomer = launcher.start(options(QUICK));
    try (RouterProcess router = router(10_000)) {
      add(router, newcomer);
      await(() -> "done".equals(state(router)));
      HttpResponse<String> unknown = call(admin(router) + "/admin/replicas/none/warm", "");
      assertThat(unknown.statusCode()).isEqualTo(404);
      assertThat(unknown.body()).contains("no replica is called none");
      JsonNode answer = JSON.readTree(post(admin(router) + "/admin/replicas/new/warm", ""));
      assertThat(answer.path("engines").path(0).path("prewarm").path("prefixes").asInt())
          .isEqualTo(SYSTEMS);
      await(() -> "done".equals(state(router)));
      post(admin(router) + "/admin/replicas/new/drain", "");
      HttpResponse<String> drained = call(admin(router) + "/admin/replicas/new/warm", "");
      assertThat(drained.statusCode()).isEqualTo(409);
      assertThat(drained.body()).contains("'new' is not warmed: it is down, asleep, ejected or dr");
    }
  }

  @Test
  void noTokensOfPromptsAreKeptWhereNobodyMayComputeThem() throws Exception {
    LiveEngine newcomer = launcher.start(options(QUICK));
    try (RouterProcess router = router(0)) {
      assertThat(metric(router, "warmpath_prefix_tokens_share")).isZero();
      add(router, newcomer);
      await(() -> isConnected(router, "new"));
      HttpResponse<String> off = call(admin(router) + "/admin/replicas/new/warm", "");
      assertThat(off.statusCode()).isEqualTo(409);
      assertThat(off.body()).contains("'new' is not warmed: fleet.prewarm-ms is 0");
      assertThat(engine(router).path("prewarm").isNull()).isTrue();
    }
  }

  @Test
  void oneThatHasLostItsCacheGetsItBack() throws Exception {
    LiveEngine newcomer = launcher.start(options(QUICK));
    try (RouterProcess router = router(10_000)) {
      add(router, newcomer);
      await(() -> "done".equals(state(router)));
      post(newcomer.url() + "/reset_prefix_cache", "");
      post(newcomer.url() + "/v1/completions", body("Anything else. ".repeat(20), 2));
      await(() -> metric(router, "warmpath_prewarm_requests_total{engine=\"new\"") == 2 * SYSTEMS);
    }
  }

  /** It dies while it computes, and comes again. */
  @Test
  void oneThatDiesMeanwhileIsSeenToWhenItComesAgain() throws Exception {
    LiveEngine newcomer = launcher.start(options(new StepCost(0.5, 1, 0, 0)));
    try (RouterProcess router = router(30_000)) {
      add(router, newcomer);
      await(() -> newcomer.load().running() == 1);
      newcomer.restart();
      await(() ->
          metric(router, "warmpath_prewarm_requests_total{engine=\"new\",result=\"failed\"}") == 1);
      assertThat(engine(router).path("requestsInFlight").asInt()).isLessThan(2);
      assertThat(engine(router).path("circuit").asText()).isEqualTo("closed");
      send(router, 0, "nobody fails");
    }
  }

  /** It is an engine by its events only; completions it does not know. */
  @Test
  void oneThatRefusesIsAskedOnce() throws Exception {
    LiveEngine hidden = launcher.start(options(QUICK));
    AtomicInteger asked = new AtomicInteger();
    HttpServer refusing = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    refusing.createContext(
        "/",
        exchange -> {
          boolean isAsked = exchange.getRequestURI().getPath().equals("/v1/completions");
          asked.addAndGet(isAsked ? 1 : 0);
          exchange.getRequestBody().readAllBytes();
          byte[] models = "{\"data\":[{\"id\":\"sim\"}]}".getBytes(UTF_8);
          exchange.sendResponseHeaders(isAsked ? 400 : 200, models.length);
          exchange.getResponseBody().write(models);
          exchange.close();
        });
    refusing.start();
    try (RouterProcess router = router(10_000)) {
      String url = "http://127.0.0.1:" + refusing.getAddress().getPort();
      add(router, replica("new", url, hidden));
      await(() -> "refused".equals(state(router)));
      LockSupport.parkNanos(300_000_000);
      assertThat(asked).hasValue(1);
      assertThat(engine(router).path("prewarm").path("problem").asText()).isEqualTo("HTTP 400");
      assertThat(engine(router).path("requestsInFlight").asInt()).isZero();
    } finally {
      refusing.stop(0);
    }
  }

  /** What sessions share is known, and held by the old engine. */
  private RouterProcess router(int prewarmMs) throws Exception {
    ConfigTree tree =
        TestRouters.patientWithModel()
            .set("fleet.prewarm-ms", prewarmMs, "test")
            .put("replicas", replica("old", old.url(), old), "test");
    RouterProcess router = RouterProcess.start(tree.config());
    FleetPage page = new FleetPage("http://127.0.0.1:" + router.adminPort());
    assertThat(page.awaitReady(Duration.ofSeconds(60))).isTrue();
    await(() -> isConnected(router, "old"));
    for (int user = 0; user < 4; user++) {
      for (int system = 0; system < SYSTEMS; system++) {
        send(router, system, "user " + user);
        LockSupport.parkNanos(20_000_000); // what is stored is announced a moment later
      }
    }
    return router;
  }

  private static Map<String, String> replica(String name, String url, LiveEngine engine) {
    return Map.of(
        "name",
        name,
        "url",
        url,
        "events",
        engine.eventsEndpoint(),
        "replay",
        engine.replayEndpoint());
  }

  private void add(RouterProcess router, LiveEngine newcomer) throws IOException {
    add(router, replica("new", newcomer.url(), newcomer));
  }

  private void add(RouterProcess router, Map<String, String> replica) throws IOException {
    post(admin(router) + "/admin/replicas", JSON.writeValueAsString(replica));
  }

  private JsonNode send(RouterProcess router, int system, String user) {
    String prompt = (system + " is the system that all use. ").repeat(80) + user.repeat(8);
    String answer = post("http://127.0.0.1:" + router.port() + "/v1/completions", body(prompt, 2));
    try {
      return JSON.readTree(answer).path("usage");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static String body(String prompt, int tokens) {
    return "{\"model\":\"sim\",\"min_tokens\":%d,\"max_tokens\":%d,\"prompt\":\"%s\"}"
        .formatted(tokens, tokens, prompt);
  }

  /** Its events will be heard. */
  private boolean isConnected(RouterProcess router, String name) {
    return !engine(router, name).path("events").path("reason").asText("not").startsWith("not");
  }

  private String state(RouterProcess router) {
    return engine(router).path("prewarm").path("state").asText();
  }

  private JsonNode engine(RouterProcess router) {
    return engine(router, "new");
  }

  private JsonNode engine(RouterProcess router, String name) {
    try {
      JsonNode fleet = JSON.readTree(get(admin(router) + "/admin/fleet"));
      for (JsonNode replica : fleet.path("replicas")) {
        if (replica.path("name").asText().equals(name)) {
          return replica.path("engines").path(0);
        }
      }
      return JSON.missingNode();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static String admin(RouterProcess router) {
    return "http://127.0.0.1:" + router.adminPort();
  }

  private String get(String url) {
    return http.sendAsync(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
        .join()
        .body();
  }

  private String post(String url, String body) {
    HttpResponse<String> response = call(url, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return response.body();
  }

  private HttpResponse<String> call(String url, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    return http.sendAsync(request, BodyHandlers.ofString()).join();
  }

  /** The sum of a metric's figures. */
  private double metric(RouterProcess router, String beginning) {
    Matcher figures =
        Pattern.compile("(?m)^" + Pattern.quote(beginning) + "\\S* (\\S+)$")
            .matcher(get(admin(router) + "/metrics"));
    double sum = 0;
    while (figures.find()) {
      sum += Double.parseDouble(figures.group(1));
    }
    return sum;
  }

  private interface Check {
    boolean isTrue() throws Exception;
  }

  private static void await(Check done) throws Exception {
    long begin = System.nanoTime();
    while (!done.isTrue()) {
      assertThat(System.nanoTime() - begin).isLessThan(30_000_000_000L);
      LockSupport.parkNanos(5_000_000);
    }
  }
}
