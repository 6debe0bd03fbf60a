package dev.warmpath.router.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.transport.Descriptors;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.doctor.Finding.Level;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Certificates;
import dev.warmpath.router.rig.Certificates.Issued;
import dev.warmpath.router.rig.EventFeed;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The doctor at replicas that are discovered, and at such behind TLS. */
@Timeout(300)
class DoctorTest {

  private static final FleetProbe.Options NO_REQUESTS =
      new FleetProbe.Options(false, Duration.ofSeconds(1));

  /** As none of these engines has events, none are waited for. */
  private static final FleetProbe.Options WITH_REQUESTS =
      new FleetProbe.Options(true, Duration.ofHours(1));

  private static final String HANDED_OVER =
      "{\"usage\":{\"prompt_tokens\":9},\"kv_transfer_params\":{\"remote_block_ids\":[[1]]}}";

  @TempDir private Path folder;
  private final Vertx vertx = Vertx.vertx();
  private final Certificates authority = new Certificates();
  private String ca;

  @BeforeEach
  void writeAuthority() throws Exception {
    ca = authority.writeTo(folder.resolve("ca")).toString();
  }

  @AfterEach
  void stop() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void discoveredReplicasAreExamined() throws Exception {
    try (Backend engine = new Backend(vertx)) {
      String two =
          "- {name: e0, url: '%s'}\n- {name: a, url: 'http://127.0.0.1:1'}\n- {name: far, url: 'http://8.8.8.8'}\n"
              .formatted(engine.url());
      DoctorReport report =
          examine(tree ->
              tree.put("discovery", source("list", write(two)), "test")
                  .put("discovery", source("gone", folder.resolve("gone")), "test")
                  .put("discovery", source("none", write("[]")), "test")
                  .put("replicas", Map.of("name", "a", "url", engine.url()), "test"));

      assertThat(found(report, "a", "reachable")).startsWith("ok").contains(engine.url());
      assertThat(found(report, "e0", "reachable")).startsWith("ok").contains(engine.url());
      assertThat(found(report, "e0", "events")).startsWith("warn").contains("no `events`");
      assertThat(found(report, "router", "discovery"))
          .contains("ok list finds e0")
          .contains("warn list refuses a: the name is taken by a replica of configuration")
          .contains("warn list refuses far: host '8.8.8.8'")
          .contains("fail gone: ", "no such file")
          .contains("warn none finds no replica");
    }
  }

  @Test
  void certificatesOfReplicasAreRead() throws Exception {
    int good = listen(authority.issue(Duration.ofDays(90), "127.0.0.1"));
    int ending = listen(authority.issue(Duration.ofDays(3), "127.0.0.1"));
    int expired = listen(authority.issue(Duration.ofHours(-1), "127.0.0.1"));
    int stranger = listen(new Certificates().issue(Duration.ofDays(90), "127.0.0.1"));
    DoctorReport report =
        examine(tree ->
            tree.put("replicas", replica("good", good), "test")
                .put("replicas", replica("ending", ending), "test")
                .put("replicas", replica("expired", expired), "test")
                .put("replicas", replica("stranger", stranger), "test"));

    assertThat(found(report, "good", "reachable")).startsWith("ok https://127.0.0.1:" + good);
    assertThat(found(report, "good", "tls")).startsWith("ok").contains("CN=leaf");
    assertThat(found(report, "ending", "reachable")).startsWith("ok");
    assertThat(found(report, "ending", "tls")).startsWith("warn").contains("2 days are left");
    assertThat(found(report, "expired", "reachable")).startsWith("fail");
    assertThat(found(report, "expired", "tls")).startsWith("fail").contains("it has expired");
    assertThat(found(report, "stranger", "reachable")).startsWith("fail");
    assertThat(found(report, "stranger", "tls")).startsWith("ok");
  }

  /** As vLLM 0.33 has it with and without a KV connector: the router takes each as it is. */
  @Test
  void enginesOfOneModelMayLookAheadDifferently() throws Exception {
    try (Backend plain = new Backend(vertx);
        Backend ahead = new Backend(vertx);
        EventFeed plainFeed = new EventFeed();
        EventFeed aheadFeed = new EventFeed()) {
      AtomicBoolean ended = new AtomicBoolean();
      Thread events =
          new Thread(() -> {
            int[] tokens = new int[33];
            while (!ended.get()) {
              tokens[0]++;
              plainFeed.stored(tokens);
              aheadFeed.stored(tokens, 1);
              LockSupport.parkNanos(5_000_000);
            }
          });
      events.start();
      DoctorReport report;
      try {
        report =
            examine(
                new FleetProbe.Options(false, Rig.PATIENCE), // it ends with the first events
                tree ->
                    tree.put("replicas", withEvents("plain", plain, plainFeed), "test")
                        .put("replicas", withEvents("ahead", ahead, aheadFeed), "test"));
      } finally {
        ended.set(true);
        events.join();
      }
      assertThat(found(report, "plain", "blocks")).startsWith("ok 16 tokens a block");
      assertThat(found(report, "ahead", "blocks"))
          .startsWith("warn 16 tokens a block and 1 ahead, but 16 tokens a block on plain")
          .contains("--kv-transfer-config");
    }
  }

  /** Whose engines of `both` are pairs, but not across. */
  @Test
  void twoModelsInOneFleetAreNoPairs() throws Exception {
    try (Backend two = new Backend(vertx);
        Backend one = new Backend(vertx);
        Backend other = new Backend(vertx)) {
      two.models = "{\"data\":[{\"id\":\"m\"},{\"id\":\"n\"}]}";
      one.models = "{\"data\":[{\"id\":\"n\"}]}";
      other.models = "{\"data\":[{\"id\":\"o\"}]}";
      other.metrics = "vllm:cache_config_info{block_size=\"32\"} 1\n";
      for (Backend engine : List.of(two, one)) {
        engine.metrics = "vllm:cache_config_info{block_size=\"16\"} 1\n";
        engine.script = (request, body) -> request.response().end(HANDED_OVER);
      }
      DoctorReport report =
          examine(
              WITH_REQUESTS,
              tree ->
                  tree.put("replicas", inPair("two", two, "both", "nixl"), "test")
                      .put("replicas", inPair("one", one, "both", "nixl"), "test")
                      .put("replicas", inPair("other", other, "both", "nixl"), "test"));

      assertThat(found(report, "two", "transfers")).startsWith("ok it answers what one computes");
      assertThat(found(report, "one", "transfers")).startsWith("ok it answers what two computes");
      assertThat(found(report, "other", "transfers")).isEmpty();
      for (Backend engine : List.of(two, one)) {
        List<Buffer> handed =
            engine.bodies.stream()
                .filter(body -> body.toString().contains("kv_transfer_params"))
                .toList();
        assertThat(handed).hasSize(2).allMatch(body -> body.toString().contains("\"n\""));
      }
    }
  }

  @Test
  void aPrefillThatFailsIsNamed() throws Exception {
    try (Backend prefill = new Backend(vertx);
        Backend decode = new Backend(vertx)) {
      prefill.script = (request, body) -> request.connection().close();
      assertThat(found(examinePair(prefill, decode, "nixl"), "d", "transfers"))
          .startsWith("fail a prompt computed at p was not answered here: /v1/completions at p: ");
    }
  }

  /** Which of two that wait for each other fails first is to blame. */
  @Test
  void aDecodeThatFailsIsNamedBeforeThePrefillThatWaitsForIt() throws Exception {
    try (Backend prefill = new Backend(vertx);
        Backend decode = new Backend(vertx)) {
      CompletableFuture<Void> refused = new CompletableFuture<>();
      prefill.script =
          (request, body) ->
              refused.thenRun(() ->
                  vertx.setTimer( // so long that the first is certainly the first
                      2_000, timer -> request.response().setStatusCode(500).end("yours")));
      decode.script =
          (request, body) ->
              request.response().setStatusCode(500).end("mine").onSuccess(refused::complete);
      assertThat(found(examinePair(prefill, decode, "sglang"), "d", "transfers"))
          .startsWith("fail a prompt computed at p was not answered here: d answers 500 mine");
    }
  }

  private DoctorReport examinePair(Backend prefill, Backend decode, String connector)
      throws Exception {
    return examine(
        WITH_REQUESTS,
        tree ->
            tree.put("replicas", inPair("p", prefill, "prefill", connector), "test")
                .put("replicas", inPair("d", decode, "decode", connector), "test"));
  }

  private static Map<String, Object> inPair(
      String name, Backend engine, String role, String connector) {
    return Map.of(
        "name", name, "url", engine.url(), "role", role, "kv-connector", connector, "kv-port", 1L);
  }

  private static Map<String, Object> withEvents(String name, Backend engine, EventFeed feed) {
    return Map.of("name", name, "url", engine.url(), "events", feed.endpoint());
  }

  @Test
  void filesOfEachEnginesEventsAreCounted() throws Exception {
    Map<String, Object> ranked =
        Map.of(
            "name", "r", "url", "http://127.0.0.1:1", "events", "tcp://127.0.0.1:1", "ranks", 3L);
    DoctorReport report =
        examine(tree ->
            tree.set("limits.connections", 1_000_000, "test")
                .set("limits.requests", 1_000_000, "test")
                .put("replicas", ranked, "test"));
    long needed = Descriptors.needed(3) + 2;
    assertThat(found(report, "router", "limits"))
        .contains("following the fleet needs " + needed + ", and `limits` allow for 2000000 more")
        .contains("LimitNOFILE=");
  }

  private static DoctorReport examine(UnaryOperator<ConfigTree> change) throws Exception {
    return examine(NO_REQUESTS, change);
  }

  private static DoctorReport examine(FleetProbe.Options options, UnaryOperator<ConfigTree> change)
      throws Exception {
    ConfigTree tree =
        change.apply(
            ConfigTree.empty()
                .set("parity.timeout-ms", 20_000, "test")
                .set("timeouts.connect-ms", 20_000, "test"));
    return DoctorReport.of(tree.config(), options);
  }

  /** Each finding as level, sentence and remedy, one a line. */
  private static String found(DoctorReport report, String subject, String check) {
    StringBuilder text = new StringBuilder();
    for (Finding finding : report.findings()) {
      if (finding.subject().equals(subject) && finding.check().equals(check)) {
        text.append(finding.level().label()).append(' ').append(finding.found());
        text.append(finding.level() == Level.OK ? "" : " -> " + finding.change()).append('\n');
      }
    }
    return text.toString();
  }

  private static Map<String, Object> source(String name, Path file) {
    return Map.of("kind", "file", "source", name, "file", file.toString());
  }

  private Map<String, Object> replica(String name, int port) {
    return Map.of("name", name, "url", "https://127.0.0.1:" + port, "tls-ca", ca);
  }

  private Path write(String text) {
    try {
      return Files.writeString(Files.createTempFile(folder, "replicas", ".yaml"), text);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private int listen(Issued shown) throws Exception {
    HttpServerOptions options =
        new HttpServerOptions()
            .setSsl(true)
            .setKeyCertOptions(
                new PemKeyCertOptions()
                    .addCertValue(Buffer.buffer(shown.certificatePem()))
                    .addKeyValue(Buffer.buffer(shown.keyPem())));
    return vertx
        .createHttpServer(options)
        .requestHandler(request -> request.response().end("{}"))
        .listen(0, "127.0.0.1")
        .toCompletionStage()
        .toCompletableFuture()
        .get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS)
        .actualPort();
  }
}
