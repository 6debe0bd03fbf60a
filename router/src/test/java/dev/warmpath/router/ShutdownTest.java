package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ShutdownTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";

  @Test
  void streamsFinishAndNewRequestsAreRefused() throws Exception {
    AtomicReference<Runnable> finish = new AtomicReference<>();
    Rig rig = new Rig(1, tree -> tree.set("shutdown.deadline-ms", 20_000, "test"));
    Backend backend = rig.backends.get(0);
    backend.script =
        (request, body) -> {
          request.response().setChunked(true).putHeader("content-type", "text/event-stream");
          request.response().write("data: 1\n\n");
          finish.set(() -> request.response().end("data: 2\n\n"));
        };
    CompletableFuture<HttpResponse<byte[]>> stream = rig.chatLater(BODY);
    Rig.until(() -> finish.get() != null);
    Thread closing = new Thread(rig.router::close);
    closing.start();
    Rig.until(() -> health(rig) == 503);
    assertThat(rig.chat(BODY).statusCode()).isEqualTo(503);
    finish.get().run();
    assertThat(new String(stream.join().body(), UTF_8)).isEqualTo("data: 1\n\ndata: 2\n\n");
    closing.join(Rig.PATIENCE.toMillis());
    assertThat(closing.isAlive()).isFalse();
    rig.vertx().close().toCompletionStage().toCompletableFuture().join();
  }

  /** As pools of clients open one in advance, or for a request that another one takes. */
  @Test
  void connectionThatWasOpenedBeforeIsServedThoughItIsUnused() throws Exception {
    Rig rig = new Rig(1, tree -> tree.set("shutdown.deadline-ms", 60_000, "test"));
    Backend backend = rig.backends.get(0);
    AtomicReference<Runnable> finish = new AtomicReference<>();
    backend.script = (request, body) -> finish.set(() -> request.response().end("{}"));
    CompletableFuture<HttpResponse<byte[]>> first = rig.chatLater(BODY);
    Rig.until(() -> finish.get() != null);
    backend.script = (request, body) -> request.response().end("{}");
    try (RawClient unused = new RawClient(rig.router.port())) {
      Rig.until(() -> rig.metrics().get("warmpath_connections") == 2);
      Thread closing = new Thread(rig.router::close);
      closing.start();
      Rig.until(() -> isRefused(rig));
      unused.post("/v1/completions", BODY);
      assertThat(unused.readUntil("\r\n\r\n")).contains(" 200 ").contains("connection: close");
      finish.get().run();
      assertThat(first.join().statusCode()).isEqualTo(200);
      closing.join(Rig.PATIENCE.toMillis());
    }
    rig.vertx().close().toCompletionStage().toCompletableFuture().join();
  }

  /** A request on a connection of its own. */
  private static boolean isRefused(Rig rig) {
    try (RawClient late = new RawClient(rig.router.port())) {
      return late.post("/v1/completions", BODY).readUntil("\r\n\r\n").contains(" 503 ");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void whatDoesNotFinishIsCutOffWithAnError() throws Exception {
    Rig rig = new Rig(1, tree -> tree.set("shutdown.deadline-ms", 50, "test"));
    Backend backend = rig.backends.get(0);
    backend.script =
        (request, body) -> {
          request.response().setChunked(true).putHeader("content-type", "text/event-stream");
          request.response().write("data: 1\n\n");
        };
    try (RawClient streaming = new RawClient(rig.router.port());
        RawClient waiting = new RawClient(rig.router.port())) {
      streaming.post("/v1/completions", BODY).readUntil("data: 1");
      backend.script = (request, body) -> {};
      waiting.post("/v1/completions", BODY);
      Rig.until(() -> backend.bodies.size() == 2);
      rig.router.close();
      assertThat(streaming.readToEnd()).contains("shutting_down");
      assertThat(waiting.readToEnd()).contains(" 503 ").contains("shutting_down");
    }
    assertThat(rig.inFlight()).isZero();
    Rig.until(() -> backend.resets.get() == 2);
    rig.vertx().close().toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void aTakenPortIsNamed() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      ConfigTree tree =
          ConfigTree.empty()
              .set("listen.port", taken.getLocalPort(), "test")
              .set("admin.port", 0, "test");
      assertThatThrownBy(() -> RouterProcess.start(tree.config()))
          .isInstanceOf(StartException.class)
          .hasMessageContaining("listen on 127.0.0.1:" + taken.getLocalPort());
    }
  }

  @Test
  void aTokenizerThatIsNotThereIsNamed() throws ConfigException {
    ConfigTree tree =
        ConfigTree.empty()
            .set("listen.port", 0, "test")
            .put("models", java.util.Map.of("name", "m", "tokenizer", "/nowhere"), "test");
    assertThatThrownBy(() -> RouterProcess.start(tree.config()))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("model 'm'")
        .hasMessageContaining("/nowhere");
  }

  private static int health(Rig rig) {
    try {
      return rig.get("/health").statusCode();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
