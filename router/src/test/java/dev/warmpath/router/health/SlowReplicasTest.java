package dev.warmpath.router.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.Environment;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import java.time.Clock;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
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
    return tree.set("health.timeout-ms", 50, "test")
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
}
