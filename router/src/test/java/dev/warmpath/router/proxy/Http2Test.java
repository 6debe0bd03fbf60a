package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Certificates;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.net.PemTrustOptions;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients that speak HTTP/2: many requests on one connection, each bounded and ended by itself. */
class Http2Test {

  private static final Buffer EVENT = Buffer.buffer("data: {\"x\":1}\n\n");

  @Test
  void answersAreTheSameByUpgradeAndByPriorKnowledge() throws Exception {
    try (Rig rig = rig(tree -> tree)) {
      Backend backend = rig.backends.get(0);
      backend.script =
          (request, body) -> {
            request.response().putHeader("X-Engine", "E").putHeader("keep-alive", "timeout=5");
            request.response().setStatusCode(201).end(body);
          };
      byte[] body = "y".repeat(3_000_000).getBytes(UTF_8);
      java.net.http.HttpClient upgrading =
          java.net.http.HttpClient.newBuilder()
              .version(java.net.http.HttpClient.Version.HTTP_2)
              .build();
      HttpRequest small = rig.post("/v1/completions", "{}".getBytes(UTF_8)).build();
      HttpResponse<String> upgraded = upgrading.send(small, HttpResponse.BodyHandlers.ofString());
      assertThat(upgraded.version()).isEqualTo(java.net.http.HttpClient.Version.HTTP_2);
      assertThat(upgraded.body()).isEqualTo("{}");
      assertThat(upgraded.headers().firstValue("x-engine")).contains("E");
      assertThat(upgraded.headers().firstValue("x-warmpath-replica")).contains("r0");

      byte[][] got = new byte[1][];
      HttpClientResponse response =
          await(
              send(rig, client(rig), Buffer.buffer(body))
                  .compose(answer ->
                      answer
                          .body()
                          .map(all -> {
                            got[0] = all.getBytes();
                            return answer;
                          })));
      assertThat(response.version()).isEqualTo(HttpVersion.HTTP_2);
      assertThat(response.statusCode()).isEqualTo(201);
      assertThat(response.getHeader("keep-alive")).isNull();
      assertThat(Arrays.equals(got[0], body)).isTrue();
      assertThat(backend.headers.get(1)).doesNotContainKeys("http2-settings", "upgrade");
    }
  }

  @Test
  void manyRequestsShareAConnectionUpToItsBound() throws Exception {
    Queue<HttpServerResponse> held = new ConcurrentLinkedQueue<>();
    try (Rig rig = rig(tree -> tree.set("limits.connection-streams", 4, "test"))) {
      Backend backend = rig.backends.get(0);
      HttpClient client = client(rig);
      await(send(rig, client, Buffer.buffer("{}")));
      backend.script = (request, body) -> held.add(request.response());
      List<Future<HttpClientResponse>> all = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        all.add(send(rig, client, Buffer.buffer("{\"n\":" + i + "}")));
      }
      for (int i = 0; i < 40; i += 4) { // those before are answered, so there are no more than 4
        Rig.until(() -> held.size() >= 4);
        assertThat(held).hasSize(4);
        for (int j = 0; j < 4; j++) {
          held.remove().end("{}");
        }
        for (int j = i; j < i + 4; j++) {
          assertThat(await(all.get(j)).statusCode()).isEqualTo(200);
        }
      }
      assertThat(rig.metrics()).containsEntry("warmpath_connections", 1.0);
    }
  }

  @Test
  void takenBackRequestEndsAtItsEngineAndNoOtherDoes() throws Exception {
    try (Rig rig = rig(tree -> tree)) {
      Backend backend = rig.backends.get(0);
      List<HttpServerResponse> open = begin(backend);
      HttpClient client = client(rig);
      List<HttpClientResponse> streams = streams(rig, client, 2);
      assertThat(rig.inFlight()).isEqualTo(2);
      streams.get(0).request().reset(8);
      Rig.until(() -> backend.resets.get() == 1 && rig.inFlight() == 1);

      open.forEach(response -> response.end(EVENT));
      assertThat(await(streams.get(1).end().map(true))).isTrue();
      rig.untilIdle();
      assertThat(rig.metrics()).containsEntry("warmpath_connections", 1.0);
    }
  }

  @Test
  void brokenResponseResetsItsStreamAlone() throws Exception {
    try (Rig rig = rig(tree -> tree)) {
      List<HttpServerResponse> open = begin(rig.backends.get(0));
      HttpClient client = client(rig);
      List<HttpClientResponse> streams = streams(rig, client, 2);
      Future<Void> broken = streams.get(0).end();
      open.get(0).reset();
      assertThatThrownBy(() -> await(broken)).hasMessageContaining("reset");
      open.get(1).end(EVENT);
      assertThat(await(streams.get(1).end().map(true))).isTrue();
      rig.untilIdle();
      assertThat(rig.metrics()).containsEntry("warmpath_connections", 1.0);
    }
  }

  @Test
  void slowReaderStopsItsEngineAndNoOther() throws Exception {
    try (Rig rig = rig(tree -> tree)) {
      Backend backend = rig.backends.get(0);
      AtomicBoolean stopped = new AtomicBoolean();
      AtomicLong written = new AtomicLong();
      Buffer chunk = Buffer.buffer("x".repeat(65_536));
      backend.script =
          (request, body) -> {
            if (body.toString().contains("slow")) {
              request.response().setChunked(true);
              flood(rig, request.response(), chunk, written, stopped);
            } else {
              request.response().end(body);
            }
          };
      HttpClient client = client(rig);
      HttpClientResponse slow = await(paused(send(rig, client, Buffer.buffer("{\"a\":\"slow\"}"))));
      Rig.until(stopped::get);
      Future<HttpClientResponse> other = send(rig, client, Buffer.buffer("{}"));
      assertThat(await(other.compose(HttpClientResponse::body)).toString()).isEqualTo("{}");
      assertThat(written.get()).as("held between engine and client").isLessThan(32L << 20);
      slow.request().reset(8);
      rig.untilIdle();
    }
  }

  @Test
  void refusedBodyEndsItsStreamAlone() throws Exception {
    try (Rig rig =
        rig(tree ->
            tree.set("limits.body-bytes", 1_000, "test")
                .set("timeouts.request-body-ms", 500, "test"))) {
      HttpClient client = client(rig);
      HttpClientRequest large = await(request(rig, client));
      large.setChunked(true).write(Buffer.buffer("z".repeat(2_000)));
      assertThat(await(large.response()).statusCode()).isEqualTo(413);
      HttpClientRequest late = await(request(rig, client));
      late.setChunked(true).write(Buffer.buffer("{"));
      assertThat(await(late.response()).statusCode()).isEqualTo(408);
      assertThat(await(send(rig, client, Buffer.buffer("{}"))).statusCode()).isEqualTo(200);
      assertThat(rig.metrics()).containsEntry("warmpath_connections", 1.0);
      rig.untilIdle();
    }
  }

  @Test
  void floodOfTakenBackRequestsEndsTheConnection() throws Exception {
    try (Rig rig = rig(tree -> tree.set("limits.connection-streams", 10, "test"))) {
      List<HttpServerResponse> open = begin(rig.backends.get(0));
      HttpClient client = client(rig);
      AtomicBoolean closed = new AtomicBoolean();
      HttpClientRequest first = await(request(rig, client));
      first.connection().closeHandler(v -> closed.set(true));
      first.reset(8);
      for (int i = 0; i < 60 && !closed.get(); i++) {
        try {
          HttpClientRequest next = await(request(rig, client));
          next.sendHead();
          next.reset(8);
        } catch (Exception e) {
          break; // the connection has ended
        }
      }
      Rig.until(closed::get);
      rig.untilIdle();
      assertThat(open).isEmpty();
      assertThat(await(send(rig, client(rig), Buffer.buffer("{}"))).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void idleConnectionIsClosedAndABusyOneIsNot() throws Exception {
    try (Rig rig = rig(tree -> tree.set("timeouts.keep-alive-ms", 40, "test"))) {
      List<HttpServerResponse> open = begin(rig.backends.get(0));
      HttpClient client = client(rig);
      HttpClientResponse stream = streams(rig, client, 1).get(0);
      AtomicBoolean closed = new AtomicBoolean();
      stream.request().connection().closeHandler(v -> closed.set(true));
      try (RawClient idle = new RawClient(rig.router.port())) {
        assertThat(idle.post("/v1/completions", "nonsense").readToEnd()).contains(" 200 ");
      }
      assertThat(closed).isFalse();
      open.forEach(HttpServerResponse::end);
      Rig.until(closed::get);
    }
  }

  @Test
  void silentConnectionIsClosedAtLast() throws Exception {
    try (Rig rig =
            rig(tree ->
                tree.set("timeouts.keep-alive-ms", 20, "test")
                    .set("timeouts.request-head-ms", 500, "test")
                    .set("timeouts.total-ms", 20, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      assertThat(client.readToEnd()).isEmpty();
    }
  }

  @Test
  void streamsOverTlsEndInTheirTimeWhenTheRouterLeaves(@TempDir Path folder) throws Exception {
    Certificates authority = new Certificates();
    String ca = authority.writeTo(folder.resolve("ca")).toString();
    Certificates.Issued issued = authority.issue("127.0.0.1");
    Path cert = Certificates.replace(folder.resolve("cert"), issued.certificatePem());
    Path key = Certificates.replace(folder.resolve("key"), issued.keyPem());
    try (Rig rig =
        rig(tree ->
            tree.set("listen.tls-cert", cert.toString(), "test")
                .set("listen.tls-key", key.toString(), "test")
                .set("shutdown.delay-ms", 4_000, "test")
                .set("shutdown.deadline-ms", 20_000, "test"))) {
      List<HttpServerResponse> open = begin(rig.backends.get(0));
      HttpClient client = rig.vertx().createHttpClient(overTls(ca));
      List<HttpClientResponse> streams = streams(rig, client, 2);
      AtomicBoolean toldToLeave = new AtomicBoolean();
      streams.get(0).request().connection().shutdownHandler(v -> toldToLeave.set(true));
      List<Future<Void>> ends = streams.stream().map(HttpClientResponse::end).toList();
      HttpClient other = rig.vertx().createHttpClient(overTls(ca));
      assertThat(isLeaving(rig, other)).isFalse(); // its connection is made before
      Thread leaving = new Thread(rig.router::close);
      leaving.start();
      Rig.until(() -> isLeaving(rig, other));
      assertThat(await(send(rig, client, Buffer.buffer("{}"))).statusCode()).isEqualTo(200);
      Rig.until(toldToLeave::get);
      open.forEach(response -> response.end(EVENT));
      for (Future<Void> end : ends) {
        assertThat(await(end.map(true))).isTrue();
      }
      leaving.join(Rig.PATIENCE.toMillis());
      assertThat(leaving.isAlive()).isFalse();
    }
  }

  @Test
  void requestsThatCrossTheGoAwayAreAnswered() throws Exception {
    try (Rig rig =
        rig(tree ->
            tree.set("shutdown.delay-ms", 4_000, "test")
                .set("shutdown.deadline-ms", 20_000, "test"))) {
      rig.backends.get(0).script = (request, body) -> request.response().end(body);
      HttpClient client = client(rig);
      await(send(rig, client, Buffer.buffer("{}")));
      HttpClient other = client(rig);
      assertThat(isLeaving(rig, other)).isFalse(); // its connection is made before
      Thread leaving = new Thread(rig.router::close);
      leaving.start();
      Rig.until(() -> isLeaving(rig, other));
      CompletableFuture<List<Future<HttpClientResponse>>> sent = new CompletableFuture<>();
      rig.vertx()
          .runOnContext(v ->
              sent.complete(
                  IntStream.range(0, 50)
                      .mapToObj(i -> send(rig, client, Buffer.buffer("{\"i\":" + i + "}")))
                      .toList()));
      for (Future<HttpClientResponse> answer : sent.get()) {
        assertThat(await(answer).statusCode()).isEqualTo(200);
      }
      leaving.join(Rig.PATIENCE.toMillis());
      assertThat(leaving.isAlive()).isFalse();
    }
  }

  private static boolean isLeaving(Rig rig, HttpClient client) {
    try {
      return await(
                  client
                      .request(HttpMethod.GET, rig.router.port(), "127.0.0.1", "/health/ready")
                      .compose(HttpClientRequest::send))
              .statusCode()
          == 503;
    } catch (Exception e) {
      return false; // its connection was told to go elsewhere
    }
  }

  private static HttpClientOptions overTls(String ca) {
    return new HttpClientOptions()
        .setProtocolVersion(HttpVersion.HTTP_2)
        .setUseAlpn(true)
        .setSsl(true)
        .setTrustOptions(new PemTrustOptions().addCertPath(ca));
  }

  @Test
  void itIsOffUnlessWanted() throws Exception {
    try (Rig rig = new Rig(1)) {
      assertThatThrownBy(() -> await(send(rig, client(rig), Buffer.buffer("{}"))))
          .isInstanceOf(Exception.class);
      java.net.http.HttpClient upgrading = java.net.http.HttpClient.newHttpClient();
      HttpRequest small = rig.post("/v1/completions", "{}".getBytes(UTF_8)).build();
      assertThat(upgrading.send(small, HttpResponse.BodyHandlers.ofString()).version())
          .isEqualTo(java.net.http.HttpClient.Version.HTTP_1_1);
    }
  }

  private static Rig rig(UnaryOperator<dev.warmpath.router.config.ConfigTree> change) {
    return new Rig(
        1,
        tree ->
            change.apply(
                tree.set("listen.http2", true, "test").set("listen.event-loops", 1, "test")));
  }

  /** Lets streams begin and leaves them open. */
  private static List<HttpServerResponse> begin(Backend backend) {
    List<HttpServerResponse> open = new CopyOnWriteArrayList<>();
    backend.script =
        (request, body) -> {
          if (body.toString().contains("stream")) {
            open.add(request.response());
            request.response().putHeader("content-type", "text/event-stream").setChunked(true);
            request.response().write(EVENT);
          } else {
            request.response().end(body);
          }
        };
    return open;
  }

  private static List<HttpClientResponse> streams(Rig rig, HttpClient client, int count)
      throws Exception {
    List<HttpClientResponse> streams = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      streams.add(await(send(rig, client, Buffer.buffer("{\"stream\":true}"))));
    }
    return streams;
  }

  private static void flood(
      Rig rig,
      HttpServerResponse response,
      Buffer chunk,
      AtomicLong written,
      AtomicBoolean stopped) {
    while (!response.writeQueueFull()) {
      response.write(chunk);
      written.addAndGet(chunk.length());
    }
    AtomicBoolean drained = new AtomicBoolean();
    response.drainHandler(v -> {
      drained.set(true);
      flood(rig, response, chunk, written, stopped);
    });
    rig.vertx()
        .setTimer(
            300,
            id -> {
              if (!drained.get()) {
                stopped.set(true);
              }
            });
  }

  private static HttpClient client(Rig rig) {
    return rig.vertx()
        .createHttpClient(
            new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setHttp2ClearTextUpgrade(false)
                .setHttp2ConnectionWindowSize(1 << 24) // of which each stream may take 64 KiB
                .setHttp2MultiplexingLimit(-1),
            new PoolOptions().setHttp2MaxSize(1));
  }

  private static Future<HttpClientRequest> request(Rig rig, HttpClient client) {
    return client.request(HttpMethod.POST, rig.router.port(), "127.0.0.1", "/v1/completions");
  }

  private static Future<HttpClientResponse> send(Rig rig, HttpClient client, Buffer body) {
    return request(rig, client).compose(request -> request.send(body));
  }

  private static Future<HttpClientResponse> paused(Future<HttpClientResponse> coming) {
    return coming.map(HttpClientResponse::pause);
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future
        .toCompletionStage()
        .toCompletableFuture()
        .get(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }
}
