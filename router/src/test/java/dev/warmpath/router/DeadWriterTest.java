package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** A router whose index nobody writes any more says so, and routes on load. */
class DeadWriterTest {

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void failsReadinessAndShowsItself() throws Exception {
    Vertx vertx = Vertx.vertx();
    WritersClock clock = new WritersClock();
    Environment machine = Environment.ofTheMachine();
    try (Backend backend = new Backend(vertx);
        RouterProcess router =
            RouterProcess.start(
                tree(backend).config(),
                new Environment(machine.clock(), clock, machine.random(), null))) {
      Rig.until(() -> health(router).statusCode() == 200);
      assertThat(stalledSeconds(router)).isLessThan(30);
      assertThat(get(router.port(), "/health/live").statusCode()).isEqualTo(200);

      clock.failures.set(2); // at the engine's work, and at forgetting the engine therefore
      Rig.until(() -> health(router).statusCode() == 503);
      assertThat(body(health(router))).contains("\"status\":\"no_index_writer\"");
      assertThat(get(router.port(), "/health/live").statusCode()).as("restart it").isEqualTo(503);
      double stalled = stalledSeconds(router);
      Rig.until(() -> stalledSeconds(router) > stalled);
      Rig.until(() -> fleet(router).contains("the index writer has ended"));
      assertThat(fleet(router)).contains("\"trust\":\"none\"");
      assertThat(body(get(router.adminPort(), "/metrics")))
          .contains("warmpath_event_stream_total{engine=\"r\",event=\"write_failures\"} 1.0");
      assertThat(chat(router).statusCode()).as("it is routed on load").isEqualTo(200);
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().join();
    }
  }

  private static ConfigTree tree(Backend backend) throws Exception {
    Map<String, Object> replica =
        Map.of(
            "name",
            "r",
            "url",
            backend.url(),
            "models",
            List.of("m"),
            "events",
            "tcp://127.0.0.1:1");
    return ConfigTree.empty()
        .set("listen.port", 0, "test")
        .set("admin.port", 0, "test")
        .set("health.interval-ms", 20, "test")
        .set("health.timeout-ms", 60_000, "test")
        .set("timeouts.connect-ms", 60_000, "test")
        .put("replicas", replica, "test");
  }

  private double stalledSeconds(RouterProcess router) {
    return body(get(router.adminPort(), "/metrics"))
        .lines()
        .filter(line -> line.startsWith("warmpath_index_writer_stalled_seconds "))
        .mapToDouble(line -> Double.parseDouble(line.split(" ")[1]))
        .findFirst()
        .orElseThrow();
  }

  private String fleet(RouterProcess router) {
    return body(get(router.adminPort(), "/admin/fleet"));
  }

  private HttpResponse<byte[]> health(RouterProcess router) {
    return get(router.port(), "/health");
  }

  private HttpResponse<byte[]> chat(RouterProcess router) {
    return send(
        request(router.port(), "/v1/chat/completions")
            .POST(HttpRequest.BodyPublishers.ofString("{\"model\":\"m\"}")));
  }

  private HttpResponse<byte[]> get(int port, String path) {
    return send(request(port, path));
  }

  private static HttpRequest.Builder request(int port, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .timeout(Rig.PATIENCE);
  }

  private HttpResponse<byte[]> send(HttpRequest.Builder request) {
    try {
      return http.send(request.build(), BodyHandlers.ofByteArray());
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String body(HttpResponse<byte[]> response) {
    return new String(response.body(), UTF_8);
  }

  /** Fails where the index's writer asks it, as often as it is told to. */
  private static final class WritersClock implements LongSupplier {

    private final AtomicInteger failures = new AtomicInteger();

    @Override
    public long getAsLong() {
      if (Thread.currentThread().getName().equals("warmpath-index-writer")
          && failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new OutOfMemoryError("on purpose");
      }
      return System.nanoTime();
    }
  }
}
