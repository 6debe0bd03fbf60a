package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.router.rig.TcpBalancer;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Two routers behind a balancer that knows nothing of HTTP are restarted under load. */
class RollingRestartTest {

  private static final int CLIENTS = 32;
  private static final int ROUNDS = 2;
  private static final List<Buffer> SHORT = stream(20);
  private static final List<Buffer> LONG = stream(300);
  private static final String BODY = "{\"model\":\"m\",\"stream\":true,\"prompt\":\"p\"}";

  private final Queue<String> failures = new ConcurrentLinkedQueue<>();
  private final AtomicLong whole = new AtomicLong();
  private volatile boolean stopped;

  @Test
  void noStreamIsDroppedWhenRoutersAreRestartedOneByOne() throws Exception {
    Vertx vertx = Vertx.vertx();
    try (Backend backend = new Backend(vertx);
        TcpBalancer balancer = new TcpBalancer(vertx)) {
      AtomicLong count = new AtomicLong();
      backend.script =
          (request, body) ->
              backend.stream(request, count.getAndIncrement() % CLIENTS == 0 ? LONG : SHORT);
      List<RouterProcess> routers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        routers.add(started(backend));
        balancer.add(routers.get(i).port());
      }
      List<Thread> clients = clients(balancer.port());
      for (int i = 0; i < 2 * ROUNDS; i++) {
        long before = whole.get();
        Rig.until(() -> whole.get() > before + 10 * CLIENTS);
        RouterProcess leaving = routers.remove(0);
        leaving.close();
        balancer.remove(leaving.port());
        RouterProcess next = started(backend);
        routers.add(next);
        balancer.add(next.port());
      }
      stopped = true;
      for (Thread client : clients) {
        client.join(Rig.PATIENCE.toMillis());
      }
      routers.forEach(RouterProcess::close);
    }
    vertx.close().toCompletionStage().toCompletableFuture().join();
    assertThat(failures).isEmpty();
    assertThat(whole.get()).isGreaterThan(10L * CLIENTS * 2 * ROUNDS);
  }

  private static RouterProcess started(Backend backend) throws ConfigException {
    Map<String, Object> replica = Map.of("name", "r", "url", backend.url(), "models", List.of("m"));
    RouterProcess router =
        RouterProcess.start(
            ConfigTree.empty()
                .set("listen.port", 0, "test")
                .set("admin.port", 0, "test")
                .set("policy.name", "round-robin", "test")
                .set("health.interval-ms", 20, "test")
                .set("health.timeout-ms", 60_000, "test")
                .set("timeouts.connect-ms", 60_000, "test")
                .set("parity.enabled", false, "test")
                .set("tokenizing.remote", "never", "test")
                .set("shutdown.delay-ms", 1_000, "test")
                .put("replicas", replica, "test")
                .config());
    return router;
  }

  private List<Thread> clients(int port) {
    List<Thread> clients = new ArrayList<>();
    HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
            .timeout(Rig.PATIENCE)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(BODY))
            .build();
    for (int i = 0; i < CLIENTS; i++) {
      Thread client = new Thread(() -> ask(http, request), "client-" + i);
      client.start();
      clients.add(client);
    }
    return clients;
  }

  private void ask(HttpClient http, HttpRequest request) {
    while (!stopped) {
      try {
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString(UTF_8));
        if (answer.statusCode() == 200 && answer.body().endsWith("data: [DONE]\n\n")) {
          whole.incrementAndGet();
        } else {
          failures.add(answer.statusCode() + " " + answer.body());
        }
      } catch (Exception e) {
        failures.add(e.toString());
      }
    }
  }

  private static List<Buffer> stream(int tokens) {
    List<Buffer> parts =
        new ArrayList<>(
            IntStream.range(0, tokens)
                .mapToObj(i -> Buffer.buffer("data: {\"choices\":[{\"text\":\"" + i + "\"}]}\n\n"))
                .toList());
    parts.add(Buffer.buffer("data: [DONE]\n\n"));
    return parts;
  }
}
