package dev.warmpath.router;

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
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A router whose heap is nearly full refuses new requests, and takes them again. */
class FullHeapTest {

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void newRequestsAreRefusedForAWhile() throws Exception {
    Vertx vertx = Vertx.vertx();
    try (Backend backend = new Backend(vertx);
        RouterProcess router = RouterProcess.start(tree(backend).config())) {
      Rig.until(() -> get(router.port(), "/health").statusCode() == 200);
      assertThat(chat(router).statusCode()).isEqualTo(200);

      AtomicReference<HttpResponse<String>> refused = new AtomicReference<>();
      Rig.until(() -> { // a collection of the tests themselves may say otherwise in between
        router.heap().collected(Runtime.getRuntime().maxMemory(), Runtime.getRuntime().maxMemory());
        refused.set(chat(router));
        return refused.get().statusCode() == 503;
      });
      assertThat(refused.get().body()).contains("heap_full").contains("memory is nearly full");
      assertThat(refused.get().headers().firstValue("retry-after")).contains("1");
      assertThat(get(router.port(), "/health/live").statusCode()).isEqualTo(200);

      Rig.until(() -> chat(router).statusCode() == 200);
      assertThat(get(router.adminPort(), "/metrics").body())
          .contains("warmpath_rejected_total{code=\"heap_full\"}")
          .contains("warmpath_heap_used_share");
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().join();
    }
  }

  private static ConfigTree tree(Backend backend) throws Exception {
    Map<String, Object> replica = Map.of("name", "r", "url", backend.url(), "models", List.of("m"));
    return ConfigTree.empty()
        .set("listen.port", 0, "test")
        .set("admin.port", 0, "test")
        .set("health.interval-ms", 20, "test")
        .set("health.timeout-ms", 60_000, "test")
        .set("timeouts.connect-ms", 60_000, "test")
        .put("replicas", replica, "test");
  }

  private HttpResponse<String> chat(RouterProcess router) {
    return send(
        request(router.port(), "/v1/chat/completions")
            .POST(HttpRequest.BodyPublishers.ofString("{\"model\":\"m\"}")));
  }

  private HttpResponse<String> get(int port, String path) {
    return send(request(port, path));
  }

  private static HttpRequest.Builder request(int port, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .timeout(Rig.PATIENCE);
  }

  private HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return http.send(request.build(), BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
