package dev.warmpath.simulator.capture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.members.Membership;
import dev.warmpath.simulator.TestRouters;
import dev.warmpath.simulator.demo.FleetPage;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a router records of a fleet is enough to judge it afterwards. */
@Timeout(300)
class RouterCaptureTest {

  private static final int ENGINES = 2;
  private static final int ROUNDS = 25;
  private static final int BURSTS = ROUNDS / 5;
  private static final int BURST = 4;
  private static final long REQUESTS = (ROUNDS - BURSTS) * 2 + BURSTS * BURST;

  @TempDir private Path dir;

  private final HttpClient http = HttpClient.newHttpClient();
  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private final LiveEngines launcher = new LiveEngines(tokenizer);
  private final List<LiveEngine> engines = new ArrayList<>();
  private final Random random = new Random(5);

  @AfterEach
  void stop() {
    launcher.close();
    tokenizer.close();
  }

  @ParameterizedTest
  @CsvSource({"300, 0", "100, 600"})
  void recordedFleetVerifiesExactly(int blocks, int hostBlocks) throws Exception {
    run(KvCacheConfig.fullAttention(16, blocks).withHost(hostBlocks));
    for (LiveEngine engine : engines) {
      assertThat(engine.load().hostHitsTokens() > 0).isEqualTo(hostBlocks > 0);
    }

    List<Path> files = files();
    assertThat(files).hasSize(1);
    exact(files.get(0));
  }

  @Test
  void replicasThatComeLaterAreRecordedFromThenOn() throws Exception {
    start();
    LiveEngine later = engines.remove(1);
    try (RouterProcess router = router(tree())) {
      send(router, prompt());
      router
          .membership()
          .put(
              Membership.ADMIN,
              ConfigTree.replica(
                  "{name: later, url: '%s', events: '%s', replay: '%s'}"
                      .formatted(later.url(), later.eventsEndpoint(), later.replayEndpoint()),
                  "test"));
      while (files().size() < 2) {
        send(router, prompt());
      }
    }
    assertThat(streams()).extracting(CaptureStream::replica).containsExactly("e0", "later");
    CaptureVerifier.VerifyReport report = verify(last());
    assertThat(report.skipped()).isEmpty();
    assertThat(report.judged().over()).isZero();
  }

  private Path last() throws IOException {
    List<Path> files = files();
    return files.get(files.size() - 1);
  }

  /** The engines that the last file names. */
  private List<CaptureStream> streams() throws IOException {
    try (CaptureReader reader = CaptureReader.open(last())) {
      return reader.header().streams();
    }
  }

  @Test
  void nothingOfAPromptIsRecordedUnlessWanted() throws Exception {
    start();
    try (RouterProcess router = router(tree().set("capture.requests", false, "test"))) {
      send(router, "a prompt of some length, ".repeat(20));
      while (metric(router, "warmpath_capture_records_total{kind=\"events\"}") == 0) {
        LockSupport.parkNanos(5_000_000);
      }
    }

    CaptureVerifier.VerifyReport report = verify(files().get(0));
    assertThat(report.events()).isPositive();
    assertThat(report.requests()).isZero();
  }

  @Test
  void nothingIsRecordedUnlessThereIsAPlace() throws Exception {
    start();
    try (RouterProcess router = router(ofEngines(TestRouters.patientWithModel()))) {
      send(router, "hello");
      assertThat(metrics(router)).doesNotContain("warmpath_capture");
    }
    assertThat(files()).isEmpty();
  }

  private void run(KvCacheConfig cache) throws Exception {
    start(cache);
    try (RouterProcess router = router(tree())) {
      for (int round = 0; round < ROUNDS; round++) {
        awaitMarks(router, (round + 1L) * ENGINES);
        if (round % 5 == 4) {
          burst(router);
        } else {
          send(router, prompt());
          send(router, prompt());
        }
      }
      assertThat(metrics(router)).containsPattern("warmpath_capture_failing 0");
      assertThat(metric(router, "warmpath_capture_dropped_total")).isZero();
    }
  }

  private void exact(Path file) throws IOException {
    CaptureVerifier.VerifyReport report = verify(file);
    assertThat(report.truncated()).isFalse();
    assertThat(report.skipped()).isEmpty();
    assertThat(report.judged().over()).isZero();
    assertThat(report.judged().under()).isZero();
    // an engine may have been silent twice between two rounds, and then not be before the next one
    assertThat(report.judged().exact()).isGreaterThanOrEqualTo(ROUNDS);
    assertThat(report.judged().count() + report.busy().count()).isEqualTo(REQUESTS);
    assertThat(report.router().count()).isEqualTo(REQUESTS);
    assertThat(report.router().exact()).isGreaterThanOrEqualTo(report.judged().exact());
    assertThat(report.events()).isPositive();
  }

  private static CaptureVerifier.VerifyReport verify(Path file) throws IOException {
    return CaptureVerifier.verify(file, new RunKvIndex(IndexLimits.unbounded(10_000)));
  }

  private void start() {
    start(KvCacheConfig.fullAttention(16, 300));
  }

  private void start(KvCacheConfig cache) {
    StepCost quick = new StepCost(1, 0.01, 0, 0);
    EngineConfig engine = new EngineConfig(cache, 2048, 32, cache.maxSequenceTokens(), quick);
    for (int i = 0; i < ENGINES; i++) {
      engines.add(launcher.start(LiveEngineOptions.of("sim", engine)));
    }
  }

  /**
   * Several at once, of which most cannot be judged. None begins as another does: an engine may get
   * two of them in another order than they were dispatched, and then the first hits what the second
   * left.
   */
  private void burst(RouterProcess router) {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < BURST; i++) {
      String prompt = "Number " + i + ". " + prompt();
      all.add(CompletableFuture.runAsync(() -> send(router, prompt)));
    }
    all.forEach(CompletableFuture::join);
  }

  /** Prompts that share beginnings, of more than the caches can hold. */
  private String prompt() {
    String beginning = ("Chapter " + random.nextInt(12) + " begins. ").repeat(20);
    return beginning + ("Then " + random.nextInt(4) + " things happened. ").repeat(10);
  }

  private RouterProcess router(ConfigTree tree) throws ConfigException, InterruptedException {
    RouterConfig config = tree.set("policy.name", "round-robin", "test").config();
    RouterProcess router = RouterProcess.start(config);
    FleetPage page = new FleetPage("http://127.0.0.1:" + router.adminPort());
    assertThat(page.awaitReady(Duration.ofSeconds(60))).isTrue();
    return router;
  }

  private ConfigTree tree() throws ConfigException {
    return ofEngines(
        TestRouters.patientWithModel()
            .set("capture.dir", dir.toString(), "test")
            .set("capture.requests", true, "test")
            .set("capture.quiet-ms", 200, "test"));
  }

  private ConfigTree ofEngines(ConfigTree tree) throws ConfigException {
    ConfigTree with = tree;
    for (LiveEngine engine : engines) {
      String name = "e" + engines.indexOf(engine);
      with = with.put("replicas", TestRouters.replica(name, engine), "test");
    }
    return with;
  }

  private void send(RouterProcess router, String prompt) {
    String body = "{\"model\":\"sim\",\"max_tokens\":3,\"prompt\":\"" + prompt + "\"}";
    URI uri = URI.create("http://127.0.0.1:" + router.port() + "/v1/completions");
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
      assertThat(response.statusCode()).isEqualTo(200);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void awaitMarks(RouterProcess router, long marks) throws Exception {
    while (metric(router, "warmpath_capture_records_total{kind=\"mark\"}") < marks) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  /** The sum of a metric's figures. */
  private double metric(RouterProcess router, String beginning) throws Exception {
    Matcher figures =
        Pattern.compile("(?m)^" + Pattern.quote(beginning) + "\\S* (\\S+)$")
            .matcher(metrics(router));
    double sum = 0;
    while (figures.find()) {
      sum += Double.parseDouble(figures.group(1));
    }
    return sum;
  }

  private String metrics(RouterProcess router) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + router.adminPort() + "/metrics");
    return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return files.sorted().toList();
    }
  }
}
