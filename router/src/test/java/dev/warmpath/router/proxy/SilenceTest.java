package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.net.http.HttpResponse;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Engines that send nothing for longer than a limit: those that are alive are waited for, those
 * that are dead are left. Engines hold their requests until the test answers them.
 */
class SilenceTest {

  private static final String PLAIN = "{\"model\":\"m\",\"prompt\":\"p\"}";
  private static final String STREAM = "{\"model\":\"m\",\"prompt\":\"p\",\"stream\":true}";
  private static final int LIMIT_MS = 200;

  private final Queue<HttpServerRequest> held = new ConcurrentLinkedQueue<>();

  @Test
  void plainAnswerMayTakeLongerThanAStreamsFirstByte() throws Exception {
    try (Rig rig = rig(2, "timeouts.first-byte-ms")) {
      for (int i = 0; i < 4; i++) { // enough failures to eject both
        CompletableFuture<HttpResponse<byte[]>> answer = rig.chatLater(PLAIN);
        heldFor(4 * LIMIT_MS).response().end("whole");
        assertThat(new String(answer.join().body(), UTF_8)).isEqualTo("whole");
      }
      assertThat(sent(rig)).isEqualTo(4);
      neitherRetriedNorBlamed(rig);
    }
  }

  @Test
  void silentStreamOfAnEngineThatIsWellIsNotCut() throws Exception {
    try (Rig rig = rig(1, "timeouts.stream-idle-ms");
        RawClient client = new RawClient(rig.router.port())) {
      client.post("/v1/chat/completions", STREAM);
      HttpServerRequest request = held();
      begin(request);
      client.readUntil("data: 1");
      pass(4 * LIMIT_MS);
      request.response().end("data: 2\n\n");
      assertThat(client.readUntil("0\r\n\r\n")).contains("data: 2").doesNotContain("error");
      neitherRetriedNorBlamed(rig);
    }
  }

  @Test
  void plainAnswerThatHasBegunMayBeSilent() throws Exception {
    try (Rig rig = rig(1, "timeouts.stream-idle-ms")) {
      CompletableFuture<HttpResponse<byte[]>> answer = rig.chatLater(PLAIN);
      HttpServerRequest request = held();
      request.response().setChunked(true).write("a");
      pass(4 * LIMIT_MS);
      request.response().end("b");
      assertThat(new String(answer.join().body(), UTF_8)).isEqualTo("ab");
    }
  }

  /** One client's request waits in a busy engine's queue. */
  @Test
  void streamWaitsForItsFirstByteWhileTheEngineSendsToOthers() throws Exception {
    try (Rig rig = rig(1, "timeouts.first-byte-ms");
        RawClient other = new RawClient(rig.router.port())) {
      other.post("/v1/chat/completions", STREAM);
      HttpServerRequest busy = held();
      begin(busy);
      other.readUntil("data: 1");
      long ticking = rig.vertx().setPeriodic(10, id -> busy.response().write("data: 2\n\n"));
      CompletableFuture<HttpResponse<byte[]>> answer = rig.chatLater(STREAM);
      heldFor(4 * LIMIT_MS).response().end("data: late\n\n");
      assertThat(new String(answer.join().body(), UTF_8)).contains("late");
      rig.vertx().cancelTimer(ticking);
      assertThat(sent(rig)).isEqualTo(2);
    }
  }

  /** Whether it is stuck or computes a long prompt cannot be told; another would take as long. */
  @Test
  void streamOfAnEngineThatSendsNothingAtAllIsGivenUpAndNotRepeated() throws Exception {
    try (Rig rig =
        rig(
            2,
            "timeouts.first-byte-ms",
            tree -> tree.set("timeouts.first-byte-ms", 1_000, "test"))) {
      for (int i = 0; i < 3; i++) {
        HttpResponse<byte[]> response = rig.chat(STREAM);
        assertThat(response.statusCode()).isEqualTo(504);
        assertThat(new String(response.body(), UTF_8)).contains("\"code\":\"timeout\"");
      }
      assertThat(sent(rig)).isEqualTo(3);
      Rig.until(() -> rig.backends.stream().mapToInt(b -> b.resets.get()).sum() == 3);
      neitherRetriedNorBlamed(rig);
    }
  }

  @Test
  void requestsThatTakeTooLongInAllAreNotRepeatedAndEjectNobody() throws Exception {
    try (Rig rig = rig(2, "timeouts.total-ms")) {
      for (int i = 0; i < 6; i++) {
        assertThat(rig.chat(PLAIN).statusCode()).isEqualTo(504);
      }
      assertThat(sent(rig)).isLessThanOrEqualTo(6);
      neitherRetriedNorBlamed(rig);
    }
  }

  @Test
  void hungEngineIsLeftAndEjected() throws Exception {
    for (String body : new String[] {PLAIN, STREAM}) {
      try (Rig rig = hangingRig(2)) {
        Backend hung = rig.backends.get(0);
        rig.backends.get(1).script = (request, sent) -> request.response().end("other");
        hangs(rig, hung);
        while (rig.metrics().get("warmpath_engine_ejected{engine=\"r0\"}") == 0) {
          assertThat(new String(rig.chat(body).body(), UTF_8)).isEqualTo("other");
        }
        rig.untilIdle();
      }
    }
  }

  @Test
  void onlyEngineThatHangsIsGivenUp() throws Exception {
    try (Rig rig = hangingRig(1)) {
      hangs(rig, rig.backends.get(0));
      assertThat(rig.chat(PLAIN).statusCode()).isEqualTo(504);
      Rig.until(() -> rig.backends.get(0).resets.get() == 1);
      rig.untilIdle();
    }
  }

  @Test
  void streamOfAnEngineThatIsDeadIsCut() throws Exception {
    try (Rig rig = rig(1, "timeouts.stream-idle-ms");
        RawClient client = new RawClient(rig.router.port())) {
      client.post("/v1/chat/completions", STREAM);
      begin(held());
      client.readUntil("data: 1");
      rig.backends.get(0).health = 500;
      assertThat(client.readToEnd()).contains("\"code\":\"timeout\"").doesNotEndWith("0\r\n\r\n");
      Rig.until(() -> rig.backends.get(0).resets.get() == 1);
      rig.untilIdle();
      assertThat(outcomes(rig, "failed")).isEqualTo(1);
    }
  }

  @Test
  void connectionOfHttp2StaysWhileItsAnswerIsComputed() throws Exception {
    try (Rig rig =
        rig(
            1,
            "timeouts.first-byte-ms",
            tree ->
                tree.set("listen.http2", true, "test")
                    .set("timeouts.stream-idle-ms", LIMIT_MS, "test")
                    .set("timeouts.keep-alive-ms", LIMIT_MS, "test"))) {
      HttpClient client =
          rig.vertx()
              .createHttpClient(
                  new HttpClientOptions()
                      .setProtocolVersion(HttpVersion.HTTP_2)
                      .setHttp2ClearTextUpgrade(false));
      Future<Buffer> answer =
          client
              .request(HttpMethod.POST, rig.router.port(), "127.0.0.1", "/v1/chat/completions")
              .compose(request -> request.send(PLAIN))
              .compose(response -> response.body());
      heldFor(1_500).response().end("whole"); // the connection's own limit is a second longer
      assertThat(
              answer
                  .toCompletionStage()
                  .toCompletableFuture()
                  .get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS))
          .hasToString("whole");
    }
  }

  private static void neitherRetriedNorBlamed(Rig rig) {
    rig.untilIdle();
    assertThat(outcomes(rig, "failed")).isZero();
    assertThat(rig.metrics())
        .allSatisfy((name, value) -> {
          if (name.startsWith("warmpath_retries_total")
              || name.startsWith("warmpath_engine_ejected")) {
            assertThat(value).as(name).isZero();
          }
        });
  }

  private static double outcomes(Rig rig, String outcome) {
    return rig.metrics().entrySet().stream()
        .filter(metric -> metric.getKey().startsWith("warmpath_outcomes_total"))
        .filter(metric -> metric.getKey().contains("outcome=\"" + outcome + "\""))
        .mapToDouble(metric -> metric.getValue())
        .sum();
  }

  private Rig rig(int replicas, String limit) {
    return rig(replicas, limit, tree -> tree);
  }

  private Rig rig(int replicas, String limit, UnaryOperator<ConfigTree> more) {
    Rig rig =
        new Rig(
            replicas,
            tree ->
                more.apply(
                    tree.set(limit, LIMIT_MS, "test")
                        .set("tokenizing.deadline-ms", 60_000, "test")));
    rig.backends.forEach(b -> b.script = (request, body) -> held.add(request));
    return rig;
  }

  /** Engines of which nothing shows but their health checks. */
  private Rig hangingRig(int replicas) {
    return rig(
        replicas,
        "timeouts.first-byte-ms",
        tree ->
            tree.set("health.metrics-interval-ms", 0, "test")
                .set("timeouts.first-byte-ms", 500, "test")
                .set("health.timeout-ms", 300, "test")
                .set("health.fall", 100, "test"));
  }

  private static void hangs(Rig rig, Backend backend) {
    backend.healthHangs = true;
    int checks = backend.healthChecks.get();
    Rig.until(() -> backend.healthChecks.get() > checks + 1); // one of them is over
    assertThat(rig.up()).isEqualTo(rig.backends.size());
  }

  private HttpServerRequest held() {
    Rig.until(() -> !held.isEmpty());
    return held.remove();
  }

  private HttpServerRequest heldFor(long millis) {
    HttpServerRequest request = held();
    pass(millis);
    return request;
  }

  private static void begin(HttpServerRequest request) {
    request.response().setChunked(true).putHeader("content-type", "text/event-stream");
    request.response().write("data: 1\n\n");
  }

  private static int sent(Rig rig) {
    return rig.backends.stream().mapToInt(b -> b.bodies.size()).sum();
  }

  private static void pass(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    Rig.until(() -> System.nanoTime() - end >= 0);
  }
}
