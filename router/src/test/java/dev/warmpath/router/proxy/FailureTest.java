package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.Environment;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FailureTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";

  @ParameterizedTest
  @ValueSource(ints = {408, 429, 502, 503, 504})
  void aRefusalIsTriedElsewhere(int status) throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.get(0).script =
          (request, body) -> request.response().setStatusCode(status).end("no");
      rig.backends.get(1).script = (request, body) -> request.response().end("yes");
      for (int i = 0; i < 4; i++) {
        HttpResponse<byte[]> response = rig.chat(BODY);
        assertThat(new String(response.body(), UTF_8)).isEqualTo("yes");
        assertThat(response.headers().firstValue("x-warmpath-replica")).contains("r1");
      }
      assertThat(rig.backends.get(0).bodies).isNotEmpty();
      assertThat(rig.backends.get(1).bodies).hasSize(4).allMatch(b -> b.toString().equals(BODY));
      rig.untilIdle();
    }
  }

  @Test
  void whenAllRefuseTheLastAnswerIsPassedOn() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.forEach(b ->
          b.script =
              (request, body) ->
                  request.response().setStatusCode(429).putHeader("retry-after", "7").end("full"));
      HttpResponse<byte[]> response = rig.chat(BODY);
      assertThat(response.statusCode()).isEqualTo(429);
      assertThat(response.headers().firstValue("retry-after")).contains("7");
      assertThat(new String(response.body(), UTF_8)).isEqualTo("full");
      rig.untilIdle();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 404, 422, 500})
  void otherErrorsArePassedOnAtOnce(int status) throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.forEach(
          b -> b.script = (r, body) -> r.response().setStatusCode(status).end("why"));
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(status);
      assertThat(rig.backends.get(0).bodies.size() + rig.backends.get(1).bodies.size())
          .isEqualTo(1);
    }
  }

  @Test
  void aReplicaThatIsGoneIsReplaced() throws Exception {
    try (Rig rig = new Rig(2, tree -> tree.set("health.fall", 100, "test"))) {
      rig.backends.get(0).close();
      for (int i = 0; i < 6; i++) {
        assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      }
      rig.untilIdle();
    }
  }

  @Test
  void aConnectionThatEndsBeforeTheFirstByteIsTriedElsewhere() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.get(0).script = (request, body) -> request.connection().close();
      rig.backends.get(1).script = (request, body) -> request.response().end("yes");
      for (int i = 0; i < 4; i++) {
        assertThat(new String(rig.chat(BODY).body(), UTF_8)).isEqualTo("yes");
      }
      rig.untilIdle();
    }
  }

  @Test
  void aHeadWithoutABodyIsTriedElsewhere() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.get(0).script =
          (request, body) -> {
            request.response().setChunked(true).putHeader("content-type", "text/event-stream");
            request.response().writeHead().onComplete(v -> request.connection().close());
          };
      rig.backends.get(1).script = (request, body) -> request.response().end("yes");
      for (int i = 0; i < 4; i++) {
        assertThat(new String(rig.chat(BODY).body(), UTF_8)).isEqualTo("yes");
      }
      rig.untilIdle();
    }
  }

  @Test
  void theOnlyReplicaIsTriedAgain() throws Exception {
    try (Rig rig = new Rig(1)) {
      Backend backend = rig.backends.get(0);
      backend.script =
          (request, body) -> {
            if (backend.bodies.size() == 1) {
              request.connection().close();
            } else {
              request.response().end("second");
            }
          };
      assertThat(new String(rig.chat(BODY).body(), UTF_8)).isEqualTo("second");
    }
  }

  /** It may be the request that ends its engines. */
  @Test
  void requestThatWasSentWholeIsRepeatedOnce() throws Exception {
    try (Rig rig = new Rig(3)) {
      rig.backends.forEach(b -> b.script = (request, body) -> request.connection().close());
      HttpResponse<byte[]> response = rig.chat(BODY);
      assertThat(response.statusCode()).isEqualTo(502);
      assertThat(new String(response.body(), UTF_8)).contains("no_response");
      assertThat(sent(rig)).isEqualTo(2);
      rig.untilIdle();
    }
  }

  /** A proxy before the engine says so when it has lost the engine, or its patience. */
  @ParameterizedTest
  @ValueSource(ints = {502, 504})
  void requestThatGatewaysLoseIsRepeatedOnce(int status) throws Exception {
    try (Rig rig = new Rig(3)) {
      rig.backends.forEach(
          b -> b.script = (request, body) -> request.response().setStatusCode(status).end("lost"));
      HttpResponse<byte[]> response = rig.chat(BODY);
      assertThat(response.statusCode()).isEqualTo(status);
      assertThat(new String(response.body(), UTF_8)).isEqualTo("lost");
      assertThat(sent(rig)).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 503})
  void requestThatReplicasRefuseIsTriedAtEach(int status) throws Exception {
    try (Rig rig = new Rig(3)) {
      rig.backends.forEach(
          b -> b.script = (request, body) -> request.response().setStatusCode(status).end("no"));
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(status);
      assertThat(sent(rig)).isEqualTo(3);
    }
  }

  @Test
  void requestThatWasNotSentWholeIsTriedAtEach() throws Exception {
    try (Rig rig = new Rig(3, tree -> tree.set("tokenizing.deadline-ms", 60_000, "test"))) {
      rig.backends.forEach(b -> b.onHead = request -> request.connection().close());
      String large = "{\"model\":\"m\",\"prompt\":\"" + "x".repeat(16 << 20) + "\"}";
      HttpResponse<byte[]> response = rig.chat(large);
      assertThat(response.statusCode()).as(new String(response.body(), UTF_8)).isEqualTo(502);
      assertThat(rig.backends).allMatch(b -> b.headers.size() == 1);
      rig.untilIdle();
    }
  }

  @Test
  void replicasWithoutConnectionAreTriedInTurn() throws Exception {
    try (Rig rig = new Rig(3, tree -> tree.set("health.fall", 100, "test"))) {
      rig.backends.get(0).close();
      rig.backends.get(1).close();
      for (int i = 0; i < 3; i++) {
        assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"0,1", "-1,1", "1,2", "9,3", "never,3"})
  void clientsLimitRetries(String allowed, int tries) throws Exception {
    try (Rig rig = new Rig(3)) {
      rig.backends.forEach(
          b -> b.script = (request, body) -> request.response().setStatusCode(503).end("no"));
      HttpResponse<byte[]> response =
          rig.send(
              rig.post("/v1/chat/completions", BODY.getBytes(UTF_8))
                  .header("X-Warmpath-Max-Retries", allowed)
                  .build());
      assertThat(response.statusCode()).isEqualTo(503);
      assertThat(sent(rig)).isEqualTo(tries);
      assertThat(rig.backends)
          .flatMap(b -> b.headers)
          .noneMatch(seen -> seen.containsKey("x-warmpath-max-retries"));
    }
  }

  private static int sent(Rig rig) {
    return rig.backends.stream().mapToInt(b -> b.bodies.size()).sum();
  }

  @Test
  void theOnlyReplicaIsTriedAgainThoughItIsFull() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("limits.replica-requests", 1, "test"))) {
      Backend backend = rig.backends.get(0);
      backend.script =
          (request, body) -> {
            if (backend.bodies.size() == 1) {
              request.connection().close();
            } else {
              request.response().end("second");
            }
          };
      assertThat(new String(rig.chat(BODY).body(), UTF_8)).isEqualTo("second");
      rig.untilIdle();
    }
  }

  @Test
  void aClientThatLeavesDuringABackOffStartsNothing() throws Exception {
    int backOffMs = 1_000;
    try (Rig rig =
        new Rig(
            1,
            tree ->
                tree.set("retry.backoff-ms", backOffMs, "test")
                    .set("retry.backoff-limit-ms", backOffMs, "test"),
            1,
            null,
            longestBackOff())) {
      Backend backend = rig.backends.get(0);
      backend.script = (request, body) -> request.connection().close();
      try (RawClient client = new RawClient(rig.router.port())) {
        client.post("/v1/completions", BODY);
        Rig.until(() -> retries(rig) == 1);
      }
      rig.untilIdle();
      int sent = backend.bodies.size();
      long over = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(backOffMs + backOffMs / 4);
      Rig.until(() -> System.nanoTime() > over);
      assertThat(backend.bodies).hasSize(sent);
      assertThat(rig.inFlight()).isZero();
    }
  }

  private static double retries(Rig rig) {
    return rig.metrics().entrySet().stream()
        .filter(metric -> metric.getKey().startsWith("warmpath_retries_total{"))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }

  private static Environment longestBackOff() {
    RandomGenerator random =
        new Random() {
          private static final long serialVersionUID = 1L;

          @Override
          public long nextLong(long bound) {
            return bound - 1;
          }
        };
    return new Environment(Clock.systemUTC(), System::nanoTime, random, null);
  }

  @Test
  void attemptsAreBounded() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("retry.attempts", 2, "test"))) {
      Backend backend = rig.backends.get(0);
      backend.script = (request, body) -> request.connection().close();
      HttpResponse<byte[]> response = rig.chat(BODY);
      assertThat(response.statusCode()).isEqualTo(502);
      assertThat(new String(response.body(), UTF_8)).contains("\"type\":\"upstream_error\"");
      assertThat(backend.bodies).hasSize(2);
      rig.untilIdle();
    }
  }

  @Test
  void aStreamThatBreaksEndsWithAnErrorEvent() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.forEach(b -> b.script = breaking("data: 1\n\n"));
      try (RawClient client = new RawClient(rig.router.port())) {
        String seen = client.post("/v1/chat/completions", BODY).readToEnd();
        assertThat(seen)
            .contains("data: 1\n\n")
            .contains("data: {\"error\":")
            .contains("stream_broken");
        assertThat(seen).doesNotEndWith("0\r\n\r\n");
      }
      rig.untilIdle();
    }
  }

  @Test
  void aStreamThatBreaksWithinAnEventJustEnds() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.backends.get(0).script = breaking("data: 1\n\ndata: {\"a");
      try (RawClient client = new RawClient(rig.router.port())) {
        String seen = client.post("/v1/chat/completions", BODY).readToEnd();
        assertThat(seen).contains("data: {\"a").doesNotContain("error").doesNotEndWith("0\r\n\r\n");
      }
      rig.untilIdle();
    }
  }

  @Test
  void aPlainResponseThatBreaksIsSeenToBeCut() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.backends.get(0).script =
          (request, body) -> {
            request.response().putHeader("content-length", "100");
            request.response().write("half").onComplete(v -> request.connection().close());
          };
      CompletableFuture<HttpResponse<byte[]>> response = rig.chatLater(BODY);
      assertThat(response).failsWithin(Rig.PATIENCE);
      rig.untilIdle();
    }
  }

  @Test
  void aClientThatLeavesWhileStreamingResetsTheReplica() throws Exception {
    try (Rig rig = new Rig(1)) {
      Backend backend = rig.backends.get(0);
      backend.script =
          (request, body) -> {
            request.response().setChunked(true).putHeader("content-type", "text/event-stream");
            request.response().write("data: 1\n\n");
          };
      for (int round = 1; round <= 6; round++) {
        try (RawClient client = new RawClient(rig.router.port())) {
          client.post("/v1/chat/completions", BODY).readUntil("data: 1");
          assertThat(rig.inFlight()).isEqualTo(1);
        }
        int resets = round;
        Rig.until(() -> backend.resets.get() == resets);
        rig.untilIdle();
      }
    }
  }

  @Test
  void aClientThatLeavesBeforeTheFirstByteResetsTheReplica() throws Exception {
    try (Rig rig = new Rig(1)) {
      Backend backend = rig.backends.get(0);
      backend.script = (request, body) -> {};
      for (int round = 1; round <= 6; round++) {
        int seen = round;
        try (RawClient client = new RawClient(rig.router.port())) {
          client.post("/v1/completions", BODY);
          Rig.until(() -> backend.bodies.size() == seen);
        }
        Rig.until(() -> backend.resets.get() == seen);
        rig.untilIdle();
      }
    }
  }

  @Test
  void aClientThatLeavesWithinItsBodyLeavesNothingBehind() throws Exception {
    try (Rig rig = new Rig(1)) {
      try (RawClient client = new RawClient(rig.router.port())) {
        client.write("POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{");
        Rig.until(() -> rig.router.serving() == 1);
      }
      rig.untilIdle();
      assertThat(rig.backends.get(0).bodies).isEmpty();
    }
  }

  @Test
  void aSlowClientPausesItsReplica() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("limits.client-buffer-bytes", 65_536, "test"))) {
      Flood flood = new Flood();
      rig.backends.get(0).script = flood;
      try (RawClient client = new RawClient(rig.router.port(), 16_384)) {
        client.postAndClose("/v1/chat/completions", BODY);
        Rig.until(flood::isStalled);
        assertThat(flood.sent()).isLessThan(40 << 20); // sockets alone may hold 37 MiB
        assertThat(client.readToEnd().length()).isGreaterThan(Flood.TOTAL_BYTES);
      }
      rig.untilIdle();
    }
  }

  @Test
  void manyThatLeaveAndManyThatStayGiveAllLoadBack() throws Exception {
    try (Rig rig = new Rig(3)) {
      rig.backends.forEach(b -> b.script = (request, body) -> b.stream(request, parts()));
      rig.backends.get(1).script =
          (request, body) -> {
            if (body.length() % 2 == 0) {
              request.connection().close();
            } else {
              rig.backends.get(1).stream(request, parts());
            }
          };
      List<CompletableFuture<HttpResponse<byte[]>>> all = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        all.add(rig.chatLater(BODY + " ".repeat(i % 5)));
        if (i % 3 == 0) {
          try (RawClient client = new RawClient(rig.router.port())) {
            client.post("/v1/chat/completions", BODY);
          }
        }
      }
      for (CompletableFuture<HttpResponse<byte[]>> one : all) {
        assertThat(one).succeedsWithin(Rig.PATIENCE);
        assertThat(one.join().statusCode()).isEqualTo(200);
      }
      rig.untilIdle();
    }
  }

  private static List<Buffer> parts() {
    List<Buffer> parts = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      parts.add(Buffer.buffer("data: " + i + "\n\n"));
    }
    return parts;
  }

  private static Backend.Script breaking(String sent) {
    return (request, body) -> {
      request.response().setChunked(true).putHeader("content-type", "text/event-stream");
      request.response().write(sent).onComplete(v -> request.connection().close());
    };
  }
}
