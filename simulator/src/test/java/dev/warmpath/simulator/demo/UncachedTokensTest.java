package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each cause for which tokens are not cached, provoked with engines behind sockets. */
@Timeout(120)
class UncachedTokensTest {

  private static final int PROMPTS = 5;

  private final HttpClient http = HttpClient.newHttpClient();
  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private final LiveEngines launcher = new LiveEngines(tokenizer);
  private final List<LiveEngine> engines = new ArrayList<>();
  private double computedUnjudged;

  @AfterEach
  void stop() {
    launcher.close();
    tokenizer.close();
  }

  @Test
  void promptsThatNobodySentBeforeAreNew() throws Exception {
    start(1, 2000, 32);
    try (RouterProcess router = router()) {
      prompts().forEach(prompt -> send(router, prompt, 2));
      assertThat(since(router, Map.of())).containsOnlyKeys("new");
      conserved(router);
    }
  }

  @Test
  void cachesThatAreTooSmallEvict() throws Exception {
    start(1, 200, 32);
    try (RouterProcess router = router()) {
      prompts().forEach(prompt -> send(router, prompt, 2));
      Map<String, Double> before = uncached(router);
      prompts().forEach(prompt -> send(router, prompt, 2));
      dominates("evicted", since(router, before));
      conserved(router);
    }
  }

  @Test
  void whatTurnsUpAtAnotherEngineIsElsewhere() throws Exception {
    start(2, 2000, 32);
    try (RouterProcess router = router()) {
      prompts().forEach(prompt -> send(router, prompt, 2));
      Map<String, Double> before = uncached(router);
      prompts().forEach(prompt -> send(router, prompt, 2)); // an odd number: each to the other one
      dominates("elsewhere", since(router, before));
      conserved(router);
    }
  }

  @Test
  void whatAResetTakesIsLost() throws Exception {
    start(1, 2000, 32);
    try (RouterProcess router = router()) {
      prompts().forEach(prompt -> send(router, prompt, 2));
      Map<String, Double> before = uncached(router);
      post(engines.get(0).url() + "/reset_prefix_cache", "");
      awaitForgotten(router);
      prompts().forEach(prompt -> send(router, prompt, 2));
      dominates("lost", since(router, before));
      conserved(router);
    }
  }

  @Test
  void whatARestartTakesIsLost() throws Exception {
    start(1, 2000, 32);
    try (RouterProcess router = router()) {
      prompts().forEach(prompt -> send(router, prompt, 2));
      Map<String, Double> before = uncached(router);
      engines.get(0).restart();
      awaitForgotten(router);
      prompts().forEach(prompt -> send(router, prompt, 2));
      dominates("lost", since(router, before));
    }
  }

  /** They are predicted as held while they wait behind an answer that takes all the room. */
  @Test
  void whatGoesWhileItWaitsIsMispredicted() throws Exception {
    start(1, 300, 1);
    try (RouterProcess router = router()) {
      prompts().forEach(prompt -> send(router, prompt, 2));
      Map<String, Double> before = uncached(router);
      CompletableFuture<Void> takes =
          CompletableFuture.runAsync(() -> send(router, "A long story.", 4_000));
      await(() -> engines.get(0).load().running() > 0);
      prompts().stream()
          .map(prompt -> CompletableFuture.runAsync(() -> send(router, prompt, 2)))
          .toList()
          .forEach(CompletableFuture::join);
      takes.join();
      dominates("mispredicted", since(router, before));
      conserved(router);
    }
  }

  /** An engine says that its cache is empty with the next step that it has. */
  private void awaitForgotten(RouterProcess router) {
    String trust = "warmpath_event_trust{engine=\"e0\",trust=\"exact\"}";
    String held = "warmpath_index_blocks{engine=\"e0\",state=\"held\"}";
    send(router, "Another one. ".repeat(20), 2);
    await(() -> metric(router, held) < 50 && metric(router, trust) == 1);
  }

  private static void dominates(String cause, Map<String, Double> causes) {
    double all = causes.values().stream().mapToDouble(tokens -> tokens).sum();
    assertThat(causes.getOrDefault(cause, 0.0)).as("%s", causes).isGreaterThan(0.7 * all);
  }

  /** Every request since the first ones was judged: what engines computed is what has a cause. */
  private void conserved(RouterProcess router) {
    assertThat(caused(router)).isEqualTo(computed(router) - computedUnjudged).isPositive();
  }

  private double computed(RouterProcess router) {
    return metric(router, "warmpath_prompt_tokens_total")
        - metric(router, "warmpath_cached_tokens_total");
  }

  private double caused(RouterProcess router) {
    return uncached(router).values().stream().mapToDouble(tokens -> tokens).sum();
  }

  private static List<String> prompts() {
    return IntStream.range(0, PROMPTS)
        .mapToObj(i -> (i + " is the number of this prompt. ").repeat(100))
        .toList();
  }

  private void start(int count, int blocks, int running) {
    KvCacheConfig cache = KvCacheConfig.fullAttention(16, blocks);
    StepCost quick = new StepCost(0.5, 0.01, 0, 0);
    EngineConfig engine = new EngineConfig(cache, 8192, running, cache.maxSequenceTokens(), quick);
    for (int i = 0; i < count; i++) {
      engines.add(launcher.start(LiveEngineOptions.of("sim", engine)));
    }
  }

  private RouterProcess router() throws Exception {
    ConfigTree tree = TestRouters.patientWithModel().set("policy.name", "round-robin", "test");
    for (LiveEngine engine : engines) {
      String name = "e" + engines.indexOf(engine);
      tree = tree.put("replicas", TestRouters.replica(name, engine), "test");
    }
    RouterProcess router = RouterProcess.start(tree.config());
    FleetPage page = new FleetPage("http://127.0.0.1:" + router.adminPort());
    assertThat(page.awaitReady(Duration.ofSeconds(60))).isTrue();
    for (int i = 0; i < 2 * engines.size(); i++) { // engines announce nothing before they store
      send(router, ("Warming up, for the " + i + "th time. ").repeat(20), 2);
      LockSupport.parkNanos(50_000_000);
    }
    for (int i = 0; i < engines.size(); i++) {
      String exact = "warmpath_event_trust{engine=\"e" + i + "\",trust=\"exact\"}";
      await(() -> metric(router, exact) == 1);
    }
    computedUnjudged = computed(router) - caused(router);
    return router;
  }

  private void send(RouterProcess router, String prompt, int tokens) {
    String body =
        "{\"model\":\"sim\",\"min_tokens\":%d,\"max_tokens\":%d,\"prompt\":\"%s\"}"
            .formatted(tokens, tokens, prompt);
    post("http://127.0.0.1:" + router.port() + "/v1/completions", body);
  }

  private void post(String url, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> response = http.sendAsync(request, BodyHandlers.ofString()).join();
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
  }

  private Map<String, Double> since(RouterProcess router, Map<String, Double> before) {
    Map<String, Double> growth = uncached(router);
    growth.replaceAll((cause, tokens) -> tokens - before.getOrDefault(cause, 0.0));
    growth.values().removeIf(tokens -> tokens == 0);
    return growth;
  }

  private Map<String, Double> uncached(RouterProcess router) {
    Matcher figures =
        Pattern.compile("(?m)^warmpath_uncached_tokens_total\\{cause=\"(\\w+)\",\\S* (\\S+)$")
            .matcher(metrics(router));
    Map<String, Double> causes = new TreeMap<>();
    while (figures.find()) {
      causes.merge(figures.group(1), Double.parseDouble(figures.group(2)), Double::sum);
    }
    return causes;
  }

  /** The sum of a metric's figures. */
  private double metric(RouterProcess router, String beginning) {
    Matcher figures =
        Pattern.compile("(?m)^" + Pattern.quote(beginning) + "\\S* (\\S+)$")
            .matcher(metrics(router));
    double sum = 0;
    while (figures.find()) {
      sum += Double.parseDouble(figures.group(1));
    }
    return sum;
  }

  private String metrics(RouterProcess router) {
    URI uri = URI.create("http://127.0.0.1:" + router.adminPort() + "/metrics");
    return http.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
        .join()
        .body();
  }

  private static void await(BooleanSupplier done) {
    long begin = System.nanoTime();
    while (!done.getAsBoolean()) {
      assertThat(System.nanoTime() - begin).isLessThan(30_000_000_000L);
      LockSupport.parkNanos(5_000_000);
    }
  }
}
