package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.router.rig.RouterCommand;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Bodies that are small as bytes and large as objects, at a router with a small heap. */
class BodyBombTest {

  /** With 4000000, 24, 512 and 1000 as in the reports of a dead router. */
  private static final int BODY_BYTES = Integer.getInteger("warmpath.bomb.bytes", 1_000_000);

  private static final int AT_ONCE = Integer.getInteger("warmpath.bomb.at-once", 12);
  private static final int HEAP_MB = Integer.getInteger("warmpath.bomb.heap-mb", 128);

  /** Long enough for a machine that does other things too; a heap that is full takes longer. */
  private static final Duration HEALTH_LIMIT =
      Duration.ofMillis(Integer.getInteger("warmpath.bomb.health-ms", 60_000));

  private final Vertx vertx = Vertx.vertx();
  private final Backend backend = new Backend(vertx);
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @AfterEach
  void close() {
    backend.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void bombsAreRoutedByLoadAndHarmNobody() throws Exception {
    try (RouterCommand router = router("-Xmx" + HEAP_MB + "m")) {
      throwAt(router, "/v1/chat/completions", "{\"model\":\"m\",\"messages\":[", "{}");
      throwAt(router, "/v1/messages", "{\"model\":\"m\",\"messages\":[],\"tools\":[", "{}");
      throwAt(router, "/v1/responses", "{\"model\":\"m\",\"metadata\":[", "[]");
      byte[] chat =
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}".getBytes(UTF_8);
      HttpRequest good = post(router, "/v1/chat/completions", chat);
      Rig.until(() -> status(good) == 200);
      assertThat(live(router)).isEqualTo(200);
      assertThat(metrics(router)).contains("warmpath_fallbacks_total{cause=\"no_memory\"}");
      Rig.until(() -> metrics(router).contains("warmpath_prompt_memory_bytes 0.0"));
      assertThat(router.errors()).doesNotContain("OutOfMemoryError");
    }
  }

  private void throwAt(RouterCommand router, String path, String head, String item) {
    byte[] bomb = bomb(head, item);
    CompletableFuture<?>[] bombs = new CompletableFuture<?>[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
      bombs[i] = http.sendAsync(post(router, path, bomb), BodyHandlers.discarding());
    }
    CompletableFuture<Void> all = CompletableFuture.allOf(bombs);
    do {
      assertThat(live(router)).isEqualTo(200);
    } while (!all.isDone());
    all.join(); // each had an answer: from the engine, or a refusal
  }

  @Test
  void aStartWhoseSizesDoNotFitTheHeapIsRefused() throws Exception {
    try (RouterCommand router =
        new RouterCommand(
            List.of("-Xmx256m"),
            List.of("serve", "--port", "0", "--set", "index.memory-mb=1000"))) {
      assertThat(router.exitCode()).isEqualTo(1);
      assertThat(router.errors()).contains("index.memory-mb (1000.0 MiB)").contains("-Xmx");
    }
  }

  private RouterCommand router(String... options) {
    return new RouterCommand(
            List.of(options),
            List.of(
                "serve",
                "--port",
                "0",
                "--admin-port",
                "0",
                "--tokenizer",
                "m=embedded",
                "--replica",
                "a=" + backend.url() + ",events=tcp://127.0.0.1:1,model=m",
                "--set",
                "tokenizing.threads=8",
                "--set",
                "health.interval-ms=20",
                "--set",
                "parity.enabled=false",
                "--set",
                "snapshot.enabled=false",
                "--set",
                "warm-up.seconds=0"))
        .listening();
  }

  private static byte[] bomb(String head, String item) {
    StringBuilder text = new StringBuilder(BODY_BYTES + 100).append(head).append(item);
    while (text.length() < BODY_BYTES) {
      text.append(',').append(item);
    }
    return text.append("]}").toString().getBytes(UTF_8);
  }

  private static HttpRequest post(RouterCommand router, String path, byte[] body) {
    return HttpRequest.newBuilder(URI.create(router.url() + path))
        .timeout(Duration.ofMinutes(5))
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
        .build();
  }

  private int live(RouterCommand router) {
    URI uri = URI.create(router.url() + "/health/live");
    return status(HttpRequest.newBuilder(uri).timeout(HEALTH_LIMIT).build());
  }

  private int status(HttpRequest request) {
    return send(request).statusCode();
  }

  private String metrics(RouterCommand router) {
    return send(HttpRequest.newBuilder(URI.create(router.adminUrl() + "/metrics")).build()).body();
  }

  private HttpResponse<String> send(HttpRequest request) {
    try {
      return http.send(request, BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
