package dev.warmpath.router.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What runs at low priority gives way to what may not wait. */
@Timeout(120)
class EvictionTest {

  private static final String EVENT = "data: {\"choices\":[{\"index\":0,\"text\":\"a\"}]}\n\n";

  private static final String FIRST_TOKENS = "warmpath_first_byte_seconds_count{replica=\"r0\"}";

  private final List<HttpServerRequest> held = new CopyOnWriteArrayList<>();

  private Rig rig(boolean evicts) {
    return rig(evicts, 1, 2);
  }

  private Rig rig(boolean evicts, int replicas, int requestsEach) {
    return new Rig(
        replicas,
        tree ->
            tree.set("limits.replica-requests", requestsEach, "test")
                .set("queue.priority-header", "x-priority", "test")
                .set("queue.evict", evicts, "test"),
        replicas,
        (request, body) -> {
          if (body.toString().contains("urgent")) {
            request.response().end("{}");
            return;
          }
          held.add(request);
          if (body.toString().contains("begun")) {
            request.response().putHeader("content-type", "text/event-stream").setChunked(true);
            request.response().write(EVENT);
          }
        });
  }

  @Test
  void theOneThatHasComputedLeastGivesWay() throws Exception {
    try (Rig rig = rig(true)) {
      CompletableFuture<HttpResponse<byte[]>> begun = ask(rig, "begun", 5);
      Rig.until(() -> rig.metrics().getOrDefault(FIRST_TOKENS, 0.0) == 1);
      CompletableFuture<HttpResponse<byte[]>> waits = ask(rig, "waits", 5);
      Rig.until(() -> held.size() == 2);
      assertThat(ask(rig, "urgent", 0).join().statusCode()).isEqualTo(200);
      assertThat(waits.join().statusCode()).isEqualTo(429);
      assertThat(text(waits)).contains("\"code\":\"evicted\"");
      assertThat(begun).isNotDone();

      CompletableFuture<HttpResponse<byte[]>> second = ask(rig, "hold", 0);
      Rig.until(() -> held.size() == 3);
      assertThat(ask(rig, "urgent", -1).join().statusCode()).isEqualTo(200);
      Throwable broken = begun.handle((answer, failure) -> failure).join();
      assertThat(broken)
          .as("a stream is cut behind its error")
          .hasRootCauseInstanceOf(IOException.class);
      assertThat(rig.metrics()).containsEntry("warmpath_evictions_total", 2.0);
      held.get(2).response().end("{}");
      assertThat(second.join().statusCode()).isEqualTo(200);
      rig.untilIdle();
    }
  }

  @Test
  void whatSaysNothingIsNeverEnded() throws Exception {
    try (Rig rig = rig(true)) {
      CompletableFuture<HttpResponse<byte[]>> one = ask(rig, "hold", 0);
      CompletableFuture<HttpResponse<byte[]>> other = ask(rig, "hold", 0);
      Rig.until(() -> held.size() == 2);
      CompletableFuture<HttpResponse<byte[]>> urgent = ask(rig, "urgent", -9);
      Rig.until(() -> rig.metrics().get("warmpath_queue_requests") == 1);
      assertThat(urgent).isNotDone();
      held.forEach(request -> request.response().end("{}"));
      for (CompletableFuture<HttpResponse<byte[]>> answer : List.of(one, other, urgent)) {
        assertThat(answer.join().statusCode()).isEqualTo(200);
      }
    }
  }

  /** Its end would make no room: the replica takes nothing new. */
  @Test
  void nothingIsEndedAtAReplicaThatDrains() throws Exception {
    try (Rig rig = rig(true, 2, 1)) {
      CompletableFuture<HttpResponse<byte[]>> first = ask(rig, "hold", 9);
      Rig.until(() -> held.size() == 1);
      Replica drained =
          rig.router.fleet().replicas().stream()
              .filter(replica -> rig.inFlight(replica.name()) == 1)
              .findFirst()
              .orElseThrow();
      CompletableFuture<HttpResponse<byte[]>> second = ask(rig, "hold", 5);
      Rig.until(() -> held.size() == 2);
      drained.draining(true);
      assertThat(ask(rig, "urgent", 0).join().statusCode()).isEqualTo(200);
      assertThat(second.join().statusCode()).isEqualTo(429);
      assertThat(first).isNotDone();
      held.get(0).response().end("{}");
      assertThat(first.join().statusCode()).isEqualTo(200);
      rig.untilIdle();
    }
  }

  @Test
  void nothingIsEndedUnlessWanted() throws Exception {
    try (Rig rig = rig(false)) {
      ask(rig, "hold", 5);
      ask(rig, "hold", 5);
      Rig.until(() -> held.size() == 2);
      CompletableFuture<HttpResponse<byte[]>> urgent = ask(rig, "urgent", 0);
      Rig.until(() -> rig.metrics().get("warmpath_queue_requests") == 1);
      assertThat(rig.metrics()).containsEntry("warmpath_evictions_total", 0.0);
      held.get(0).response().end("{}");
      assertThat(urgent.join().statusCode()).isEqualTo(200);
    }
  }

  private static String text(CompletableFuture<HttpResponse<byte[]>> answer) {
    return new String(answer.join().body(), StandardCharsets.UTF_8);
  }

  private static CompletableFuture<HttpResponse<byte[]>> ask(Rig rig, String prompt, int priority) {
    String body =
        "{\"model\":\"m\",\"prompt\":\"%s\",\"stream\":%s}"
            .formatted(prompt, prompt.equals("begun") || prompt.equals("waits"));
    HttpRequest request =
        rig.post("/v1/completions", body.getBytes(StandardCharsets.UTF_8))
            .header("x-priority", Integer.toString(priority))
            .build();
    return rig.http.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray());
  }
}
