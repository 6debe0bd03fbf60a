package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.RawHttp2;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.http.HttpServerRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** What is bounded, and what happens at the bound. */
class OverloadTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";

  /** A follow-up of a stored response waits for the one replica that has it. */
  @Test
  void followUpThatWaitsForItsReplicaHoldsNoOtherRequestBack() throws Exception {
    try (Rig rig = new Rig(2, set("limits.replica-requests", 1))) {
      rig.backends.get(1).health = 500;
      Rig.until(() -> rig.up() == 1);
      rig.backends.get(0).script =
          (request, body) -> request.response().end("{\"id\":\"resp_1\",\"object\":\"response\"}");
      respond(rig, "{\"model\":\"m\",\"input\":\"a\"}").join();
      Queue<HttpServerRequest> held = hold(rig);
      CompletableFuture<HttpResponse<byte[]>> first = rig.chatLater(BODY);
      Rig.until(() -> held.size() == 1);
      rig.backends.get(1).health = 200;
      Rig.until(() -> rig.up() == 2);

      CompletableFuture<HttpResponse<byte[]>> followUp =
          respond(rig, "{\"model\":\"m\",\"input\":\"b\",\"previous_response_id\":\"resp_1\"}");
      Rig.until(() -> rig.router.dispatcher().queued() == 1);
      for (int i = 0; i < 3; i++) {
        assertThat(rig.chat(BODY).headers().firstValue("x-warmpath-replica")).contains("r1");
      }
      assertThat(followUp).isNotDone();
      held.remove().response().end("{}");
      assertThat(first.join().statusCode()).isEqualTo(200);
      Rig.until(() -> !held.isEmpty());
      held.remove().response().end("{}");
      assertThat(followUp.join().headers().firstValue("x-warmpath-replica")).contains("r0");
      rig.untilIdle();
    }
  }

  private static CompletableFuture<HttpResponse<byte[]>> respond(Rig rig, String body) {
    return rig.http.sendAsync(
        rig.post("/v1/responses", body.getBytes(UTF_8)).build(),
        HttpResponse.BodyHandlers.ofByteArray());
  }

  @Test
  void requestsBeyondTheLimitAreRefused() throws Exception {
    try (Rig rig = new Rig(1, set("limits.requests", 2))) {
      Queue<HttpServerRequest> held = hold(rig);
      List<CompletableFuture<HttpResponse<byte[]>>> first =
          List.of(rig.chatLater(BODY), rig.chatLater(BODY));
      Rig.until(() -> held.size() == 2);
      refused(rig.chat(BODY), "overloaded");
      held.forEach(request -> request.response().end("{}"));
      first.forEach(one -> assertThat(one.join().statusCode()).isEqualTo(200));
      rig.untilIdle();
      hold(rig, "{}");
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void bodiesBeyondTheLimitAreRefused() throws Exception {
    String large = "{\"model\":\"m\",\"prompt\":\"" + "x".repeat(700_000) + "\"}";
    try (Rig rig = new Rig(1, set("limits.bodies-mb", 1))) {
      Queue<HttpServerRequest> held = hold(rig);
      CompletableFuture<HttpResponse<byte[]>> first = rig.chatLater(large);
      Rig.until(() -> held.size() == 1);
      refused(rig.chat(large), "overloaded");
      held.forEach(request -> request.response().end("{}"));
      assertThat(first.join().statusCode()).isEqualTo(200);
      rig.untilIdle();
      hold(rig, "{}");
      assertThat(rig.chat(large).statusCode()).as("what was taken is given back").isEqualTo(200);
    }
  }

  @Test
  void bodiesThatDoNotEndTakeTheRoomThatIsAllocatedForThem() throws Exception {
    RawHttp2 frames = RawHttp2.connection();
    for (int stream = 1; stream < 3_000; stream += 2) {
      frames.post(stream, "/v1/completions").data(stream, "{");
    }
    try (Rig rig =
        new Rig(
            1,
            tree ->
                tree.set("limits.bodies-mb", 1, "test")
                    .set("listen.http2", true, "test")
                    .set("limits.connection-streams", 2_000, "test"))) {
      try (RawClient client = new RawClient(rig.router.port())) {
        client.write(frames.bytes());
        Rig.until(() -> rig.metrics().containsKey("warmpath_rejected_total{code=\"overloaded\"}"));
        assertThat(rig.metrics().get("warmpath_request_bodies_bytes")).isGreaterThan(1_000_000);
      }
      rig.untilIdle();
      assertThat(rig.metrics().get("warmpath_request_bodies_bytes")).isZero();
    }
  }

  @Test
  void aReplicaGetsNoMoreRequestsThanItMayHaveAndTheOthersWait() throws Exception {
    try (Rig rig = new Rig(1, tight(4))) {
      Queue<HttpServerRequest> held = hold(rig);
      List<CompletableFuture<HttpResponse<byte[]>>> all = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        all.add(rig.chatLater(BODY));
      }
      Rig.until(() -> held.size() == 2 && rig.router.dispatcher().queued() == 4);
      refused(rig.chat(BODY), "overloaded");
      for (int served = 1; served <= 6; served++) {
        Rig.until(() -> !held.isEmpty());
        assertThat(rig.router.fleet().replicas().get(0).requests()).isLessThanOrEqualTo(2);
        held.remove().response().end("{}");
      }
      all.forEach(one -> assertThat(one.join().statusCode()).isEqualTo(200));
      assertThat(rig.metrics()).containsEntry("warmpath_queue_wait_seconds_count", 4.0);
      rig.untilIdle();
    }
  }

  @Test
  void aRequestDoesNotWaitLongerThanItMay() throws Exception {
    try (Rig rig = new Rig(1, tree -> tight(4).apply(tree).set("queue.timeout-ms", 50, "test"))) {
      Queue<HttpServerRequest> held = hold(rig);
      List<CompletableFuture<HttpResponse<byte[]>>> two =
          List.of(rig.chatLater(BODY), rig.chatLater(BODY));
      Rig.until(() -> held.size() == 2);
      refused(rig.chat(BODY), "queue_timeout");
      assertThat(rig.router.dispatcher().queued()).isZero();
      held.forEach(request -> request.response().end("{}"));
      two.forEach(one -> assertThat(one.join().statusCode()).isEqualTo(200));
      rig.untilIdle();
    }
  }

  @Test
  void aClientThatLeavesTheQueueLeavesNothingBehind() throws Exception {
    try (Rig rig = new Rig(1, tight(4))) {
      Queue<HttpServerRequest> held = hold(rig);
      List<CompletableFuture<HttpResponse<byte[]>>> two =
          List.of(rig.chatLater(BODY), rig.chatLater(BODY));
      Rig.until(() -> held.size() == 2);
      try (RawClient client = new RawClient(rig.router.port())) {
        client.post("/v1/completions", BODY);
        Rig.until(() -> rig.router.dispatcher().queued() == 1);
      }
      Rig.until(() -> rig.router.dispatcher().queued() == 0);
      held.forEach(request -> request.response().end("{}"));
      two.forEach(one -> assertThat(one.join().statusCode()).isEqualTo(200));
      rig.untilIdle();
      assertThat(rig.backends.get(0).bodies).hasSize(2);
    }
  }

  @Test
  void retriesAreAPartOfAllRequests() throws Exception {
    try (Rig rig =
        new Rig(
            2,
            tree -> tree.set("retry.budget-percent", 10, "test").set("health.fall", 100, "test"))) {
      rig.backends.get(0).script =
          (request, body) -> request.response().setStatusCode(503).end("no");
      rig.backends.get(1).script =
          (request, body) -> request.response().setStatusCode(503).end("no");
      for (int i = 0; i < 300; i++) {
        assertThat(rig.chat(BODY).statusCode()).isEqualTo(503);
      }
      int sent = rig.backends.get(0).bodies.size() + rig.backends.get(1).bodies.size();
      assertThat(sent - 300).as("200 at once and a tenth").isBetween(200, 231);
    }
  }

  @Test
  void aReplicaThatNamesATimeIsLeftAloneUntilThen() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.get(0).script =
          (request, body) ->
              request.response().setStatusCode(429).putHeader("retry-after", "30").end("later");
      for (int i = 0; i < 8; i++) {
        assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      }
      assertThat(rig.backends.get(0).bodies).hasSize(1);
      assertThat(rig.backends.get(1).bodies).hasSize(8);
    }
  }

  private static UnaryOperator<ConfigTree> tight(int queue) {
    return tree ->
        tree.set("limits.replica-requests", 2, "test")
            .set("listen.event-loops", 2, "test")
            .set("queue.requests", queue, "test");
  }

  @Test
  void aBodyThatCannotBeReadInTimeIsRefused() throws Exception {
    String huge = "{\"x\":[" + "0,".repeat(8 << 20) + "0],\"model\":\"m\"}";
    try (Rig rig = new Rig(1, set("tokenizing.deadline-ms", 1))) {
      refused(rig.chat(huge), "overloaded");
      assertThat(rig.backends.get(0).bodies).isEmpty();
      rig.untilIdle();
    }
  }

  @Test
  void aHeadThatDoesNotComeIsNotWaitedFor() throws Exception {
    try (Rig rig = new Rig(1, set("timeouts.request-head-ms", 50));
        RawClient silent = new RawClient(rig.router.port());
        RawClient slow = new RawClient(rig.router.port())) {
      slow.write("GET /v1/mo");
      assertThat(silent.readToEnd()).isEmpty();
      assertThat(slow.readToEnd()).isEmpty();
    }
  }

  @Test
  void aConnectionWithoutRequestsIsClosed() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("timeouts.keep-alive-ms", 50, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      Queue<HttpServerRequest> held = hold(rig);
      client.post("/v1/completions", BODY);
      Rig.until(() -> held.size() == 1);
      int looks = rig.backends.get(0).headers.size();
      Rig.until(() -> rig.router.serving() == 1);
      held.remove().response().putHeader("content-length", "2").end("{}");
      String seen = client.readToEnd();
      assertThat(seen).contains(" 200 ").endsWith("{}");
      assertThat(looks).isEqualTo(1);
    }
  }

  @Test
  void connectionsBeyondTheLimitAreClosed() throws Exception {
    String page = "GET /health HTTP/1.1\r\nhost: x\r\n\r\n";
    try (Rig rig = new Rig(1, set("limits.connections", 2))) {
      try (RawClient first = new RawClient(rig.router.port());
          RawClient second = new RawClient(rig.router.port())) {
        assertThat(first.write(page).readUntil("\r\n")).contains(" 200 ");
        assertThat(second.write(page).readUntil("\r\n")).contains(" 200 ");
        try (RawClient third = new RawClient(rig.router.port())) {
          assertThat(third.readToEnd()).isEmpty();
        }
      }
      Rig.until(() -> answers(rig, page));
    }
  }

  private static boolean answers(Rig rig, String page) {
    try (RawClient client = new RawClient(rig.router.port())) {
      return client.write(page).readUntil("\r\n").contains(" 200 ");
    } catch (java.io.IOException closed) {
      return false;
    }
  }

  @Test
  void whatIsTooMuchForGoodReplicasWaitsForThemAndBurdensNoneThatAskedForTime() throws Exception {
    try (Rig rig = new Rig(2, tight(4))) {
      rig.backends.get(1).script =
          (request, body) ->
              request.response().setStatusCode(503).putHeader("retry-after", "30").end("busy");
      while (rig.backends.get(1).bodies.isEmpty()) {
        assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      }
      Queue<HttpServerRequest> held = hold(rig);
      List<CompletableFuture<HttpResponse<byte[]>>> all = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        all.add(rig.chatLater(BODY));
      }
      Rig.until(() -> held.size() == 2);
      for (int served = 0; served < 3; served++) {
        Rig.until(() -> !held.isEmpty());
        held.remove().response().end("{}");
      }
      all.forEach(one -> assertThat(one.join().statusCode()).isEqualTo(200));
      assertThat(rig.backends.get(1).bodies).hasSize(1);
      rig.untilIdle();
    }
  }

  private static void refused(HttpResponse<byte[]> response, String code) {
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.headers().firstValue("retry-after")).isPresent();
    assertThat(new String(response.body(), UTF_8)).contains("\"code\":\"" + code + "\"");
  }

  /** The first backend holds its requests until somebody answers them. */
  private static Queue<HttpServerRequest> hold(Rig rig) {
    Queue<HttpServerRequest> held = new ConcurrentLinkedQueue<>();
    rig.backends.get(0).script = (request, body) -> held.add(request);
    return held;
  }

  private static void hold(Rig rig, String answer) {
    rig.backends.get(0).script = (request, body) -> request.response().end(answer);
  }

  private static UnaryOperator<ConfigTree> set(String key, int value) {
    return tree -> tree.set(key, value, "test");
  }

  @Test
  void whatIsBoundedIsMeasured() throws Exception {
    try (Rig rig = new Rig(1, set("limits.connections", 77))) {
      Queue<HttpServerRequest> held = hold(rig);
      CompletableFuture<HttpResponse<byte[]>> one = rig.chatLater(BODY);
      Rig.until(() -> held.size() == 1);
      Map<String, Double> metrics = rig.metrics();
      assertThat(metrics).containsEntry("warmpath_connections_limit", 77.0);
      assertThat(metrics).containsEntry("warmpath_request_bodies_bytes", (double) BODY.length());
      assertThat(metrics).containsEntry("warmpath_requests_serving", 1.0);
      assertThat(metrics.get("warmpath_connections")).isPositive();
      held.remove().response().end("{}");
      assertThat(one.join().statusCode()).isEqualTo(200);
      Rig.until(() -> rig.metrics().get("warmpath_request_bodies_bytes") == 0);
    }
  }
}
