package dev.warmpath.router.health;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.Environment;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicas whose health checks are slow or fail, while they serve or not. */
@Timeout(60)
class SlowReplicasTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\",\"stream\":true}";
  private static final int FALL = 3;

  private final AtomicLong laterNanos = new AtomicLong();

  private static ConfigTree impatient(ConfigTree tree) {
    return tree.set("health.timeout-ms", 500, "test")
        .set("health.fall", FALL, "test")
        .set("health.metrics-interval-ms", 0, "test");
  }

  private Rig rig(int replicas) {
    return new Rig(
        replicas,
        SlowReplicasTest::impatient,
        replicas,
        null,
        new Environment(
            Clock.systemUTC(), () -> System.nanoTime() + laterNanos.get(), new Random(), null));
  }

  private static void hang(Backend backend) {
    backend.healthHangs = true;
    int before = backend.healthChecks.get();
    Rig.until(() -> backend.healthChecks.get() > before + 3 * FALL);
  }

  @Test
  void aSlowCheckDoesNotTakeDownAReplicaThatStreams() throws Exception {
    try (Rig rig = rig(1)) {
      Backend backend = rig.backends.get(0);
      Replica replica = rig.router.fleet().replicas().get(0);
      AtomicBoolean ends = new AtomicBoolean();
      backend.script =
          (request, body) -> {
            request.response().setChunked(true).putHeader("content-type", "text/event-stream");
            rig.vertx()
                .setPeriodic(
                    5,
                    id -> {
                      request.response().write(Buffer.buffer("data: {}\n\n"));
                      if (ends.get()) {
                        rig.vertx().cancelTimer(id);
                        request.response().end();
                      }
                    });
          };
      CompletableFuture<?> stream = rig.chatLater(BODY);
      Rig.until(() -> replica.isResponding(System.nanoTime()));
      hang(backend);
      assertThat(replica.lastCheck()).isEqualTo(Replica.Check.UNANSWERED);
      assertThat(replica.health()).isEqualTo(Replica.Health.UP);
      assertThat(replica.isAlive(System.nanoTime())).isTrue();
      ends.set(true);
      stream.join();
      assertThat(replica.health()).isEqualTo(Replica.Health.UP);
      laterNanos.set(Replica.ALIVE_NANOS);
      Rig.until(() -> replica.health() == Replica.Health.DOWN);
      assertThat(replica.isAlive(System.nanoTime() + laterNanos.get())).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 503, 404})
  void anErrorStatusTakesItDownThoughItRespondedJustNow(int status) throws Exception {
    try (Rig rig = rig(1)) {
      Replica replica = rig.router.fleet().replicas().get(0);
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      assertThat(replica.isResponding(System.nanoTime())).isTrue();
      rig.backends.get(0).health = status;
      Rig.until(() -> replica.health() == Replica.Health.DOWN);
      assertThat(replica.isAlive(System.nanoTime())).isFalse();
    }
  }

  @Test
  void aRefusedConnectionTakesItDownThoughItRespondedJustNow() throws Exception {
    try (Rig rig = rig(1)) {
      Replica replica = rig.router.fleet().replicas().get(0);
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      rig.backends.get(0).close();
      Rig.until(() -> replica.health() == Replica.Health.DOWN);
      assertThat(replica.lastCheck()).isEqualTo(Replica.Check.FAILED);
      assertThat(replica.isAlive(System.nanoTime())).isFalse();
    }
  }

  private static void down(Rig rig) {
    Rig.until(() -> rig.up() == 0);
  }

  private static int attempts(Rig rig) {
    return rig.backends.stream().mapToInt(backend -> backend.bodies.size()).sum();
  }

  private static String replicaOf(HttpResponse<byte[]> answer) {
    assertThat(answer.statusCode()).isEqualTo(200);
    return answer.headers().firstValue("x-warmpath-replica").orElseThrow();
  }

  private static String health(Rig rig) {
    try {
      return text(rig.get("/health"));
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String text(HttpResponse<byte[]> answer) {
    return new String(answer.body(), UTF_8);
  }

  @Test
  void whenAllAreSlowTheyServeAndTheRouterIsReady() throws Exception {
    try (Rig rig = rig(2)) {
      rig.backends.forEach(backend -> backend.healthHangs = true);
      down(rig);
      Rig.until(() -> health(rig).contains("\"status\":\"slow\""));
      HttpResponse<byte[]> ready = rig.get("/health/ready");
      assertThat(ready.statusCode()).isEqualTo(200);
      assertThat(text(ready)).contains("\"status\":\"slow\"", "\"up\":0");
      assertThat(text(rig.get("/v1/models"))).contains("\"id\":\"m\"");
      Rig.until(() -> rig.metrics().get("warmpath_models_without_replica") == 1);
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      Rig.until(() -> rig.up() > 0); // it responded, so its slow checks do not count
      Rig.until(() -> rig.metrics().get("warmpath_models_without_replica") == 0);
    }
  }

  @Test
  void aSlowReplicaIsTriedBeforeOneThatFailsItsChecks() throws Exception {
    try (Rig rig = rig(2)) {
      rig.backends.get(0).health = 500;
      rig.backends.get(1).healthHangs = true;
      down(rig);
      assertThat(replicaOf(rig.chat(BODY))).isEqualTo("r1");
    }
  }

  @Test
  void whatFailsItsChecksIsTriedAfterASlowOneThatFailedTheRequest() throws Exception {
    try (Rig rig = rig(2)) {
      rig.backends.get(0).health = 500;
      rig.backends.get(1).healthHangs = true;
      rig.backends.get(1).script = (request, body) -> request.connection().close();
      down(rig);
      assertThat(replicaOf(rig.chat(BODY))).isEqualTo("r0");
      assertThat(attempts(rig)).isEqualTo(2);
    }
  }

  @Test
  void whileOneIsUpTheOthersGetNothing() throws Exception {
    try (Rig rig = rig(3)) {
      rig.backends.get(0).health = 500;
      rig.backends.get(1).healthHangs = true;
      Rig.until(() -> rig.up() == 1);
      rig.backends.get(2).script =
          (request, body) -> request.response().setStatusCode(429).end("full");
      for (int i = 0; i < 6; i++) {
        assertThat(rig.chat(BODY).statusCode()).isEqualTo(429);
      }
      assertThat(rig.backends.get(2).bodies).hasSize(6);
      assertThat(attempts(rig)).isEqualTo(6);
    }
  }

  @Test
  void aDrainedReplicaIsNeverTried() throws Exception {
    try (Rig rig = rig(2)) {
      rig.router.fleet().find("r0").orElseThrow().draining(true);
      rig.backends.get(1).health = 500;
      Rig.until(() -> rig.up() == 1);
      for (int i = 0; i < 3; i++) {
        assertThat(replicaOf(rig.chat(BODY))).isEqualTo("r1");
      }
      rig.router.fleet().find("r1").orElseThrow().draining(true);
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(503);
      assertThat(rig.get("/health/ready").statusCode()).isEqualTo(503);
    }
  }

  @Test
  void theOnlyReplicaIsTriedOnceWhenItIsDown() throws Exception {
    try (Rig rig = rig(1)) {
      Backend backend = rig.backends.get(0);
      backend.health = 500;
      backend.script = (request, body) -> request.connection().close();
      down(rig);
      double left = rig.metrics().get("warmpath_retries_left");
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(502);
      assertThat(backend.bodies).hasSize(1);
      assertThat(rig.metrics().get("warmpath_retries_left")).isGreaterThanOrEqualTo(left);
      assertThat(rig.get("/health/ready").statusCode()).isEqualTo(503);
    }
  }

  @Test
  void whatWasNeverAliveIsNotTried() throws Exception {
    UnaryOperator<ConfigTree> dead =
        tree ->
            impatient(tree)
                .put(
                    "replicas",
                    Map.of("name", "dead", "url", "http://127.0.0.1:1", "models", List.of("x")),
                    "test");
    try (Rig rig = new Rig(1, dead, 1)) {
      HttpResponse<byte[]> answer = rig.chat("{\"model\":\"x\",\"prompt\":\"p\"}");
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(text(answer)).contains("no_replica");
    }
  }

  @Test
  void oneThatDoesNotNameItsModelsIsNoGuessForAnothers() throws Exception {
    try (Rig rig = new Rig(1, tree -> unnamed(impatient(tree)), 1)) {
      rig.backends.get(0).health = 500;
      down(rig);
      assertThat(replicaOf(rig.chat(BODY))).isEqualTo("r0");
    }
  }

  private static ConfigTree unnamed(ConfigTree tree) {
    return tree.put("replicas", Map.of("name", "any", "url", "http://127.0.0.1:1"), "test");
  }
}
