package dev.warmpath.router.rig;

import dev.warmpath.router.Environment;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.fleet.Replica;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** A router in front of some backends, with sockets for everything. */
public final class Rig implements AutoCloseable {

  public static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Longer than any stall of a machine that does other things too. */
  private static final int NO_LIMIT_MS = 60_000;

  private final Vertx vertx = Vertx.vertx();
  public final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  public final List<Backend> backends = new ArrayList<>();
  public final RouterProcess router;
  private final ConfigTree started;
  private volatile ConfigTree written;

  public Rig(int replicas, UnaryOperator<ConfigTree> change) {
    this(replicas, change, replicas);
  }

  /** Waits at its start until at least so many replicas are up. */
  public Rig(int replicas, UnaryOperator<ConfigTree> change, int up) {
    this(replicas, change, up, null);
  }

  /** With backends that answer as {@code script} does from the start, unless it is null. */
  public Rig(int replicas, UnaryOperator<ConfigTree> change, int up, Backend.Script script) {
    this(replicas, change, up, script, Environment.ofTheMachine());
  }

  /** In such an environment. */
  public Rig(
      int replicas,
      UnaryOperator<ConfigTree> change,
      int up,
      Backend.Script script,
      Environment surroundings) {
    ConfigTree tree =
        ConfigTree.empty()
            .set("listen.port", 0, "test")
            .set("admin.port", 0, "test")
            .set("policy.name", "round-robin", "test")
            .set("health.interval-ms", 20, "test")
            .set("health.timeout-ms", NO_LIMIT_MS, "test")
            .set("timeouts.connect-ms", NO_LIMIT_MS, "test")
            .set("tokenizing.deadline-ms", NO_LIMIT_MS, "test")
            .set("parity.timeout-ms", NO_LIMIT_MS, "test")
            .set("retry.backoff-ms", 1, "test")
            .set("parity.enabled", false, "test")
            .set("tokenizing.remote", "never", "test")
            .set("shutdown.deadline-ms", 200, "test");
    for (int i = 0; i < replicas; i++) {
      Backend backend = new Backend(vertx);
      if (script != null) {
        backend.script = script;
      }
      backends.add(backend);
      Map<String, Object> replica =
          Map.of("name", "r" + i, "url", backend.url(), "models", List.of("m"));
      tree = tree.put("replicas", replica, "test");
    }
    started = change.apply(tree);
    written = started;
    Environment environment = surroundings.loading((running, content) -> written.config());
    try {
      router = RouterProcess.start(started.config(), environment);
    } catch (ConfigException e) {
      throw new IllegalStateException(e);
    }
    until(() -> up() >= up);
  }

  public Rig(int replicas) {
    this(replicas, tree -> tree);
  }

  public Vertx vertx() {
    return vertx;
  }

  /** The configuration is now the one of the start with this change, to be read by a reload. */
  public void write(UnaryOperator<ConfigTree> change) {
    written = change.apply(started);
  }

  public URI uri(String path) {
    return URI.create("http://127.0.0.1:" + router.port() + path);
  }

  public HttpRequest.Builder post(String path, byte[] body) {
    return HttpRequest.newBuilder(uri(path))
        .timeout(PATIENCE)
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofByteArray(body));
  }

  public HttpResponse<byte[]> send(HttpRequest request) throws IOException, InterruptedException {
    return http.send(request, HttpResponse.BodyHandlers.ofByteArray());
  }

  public HttpResponse<byte[]> chat(String body) throws IOException, InterruptedException {
    return send(post("/v1/chat/completions", body.getBytes(StandardCharsets.UTF_8)).build());
  }

  public CompletableFuture<HttpResponse<byte[]>> chatLater(String body) {
    return http.sendAsync(
        post("/v1/chat/completions", body.getBytes(StandardCharsets.UTF_8)).build(),
        HttpResponse.BodyHandlers.ofByteArray());
  }

  public HttpResponse<byte[]> get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(uri(path)).timeout(PATIENCE).build());
  }

  public HttpResponse<byte[]> admin(String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + router.adminPort() + path);
    return send(HttpRequest.newBuilder(uri).timeout(PATIENCE).build());
  }

  /** The metrics now, each with its labels as a scrape shows them. */
  public Map<String, Double> metrics() {
    Map<String, Double> metrics = new HashMap<>();
    try {
      String page = new String(admin("/metrics").body(), StandardCharsets.UTF_8);
      page.lines()
          .filter(line -> !line.startsWith("#"))
          .forEach(line -> {
            int space = line.lastIndexOf(' ');
            metrics.put(line.substring(0, space), Double.valueOf(line.substring(space + 1)));
          });
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return metrics;
  }

  public long up() {
    return router.fleet().replicas().stream()
        .filter(replica -> replica.health() == Replica.Health.UP)
        .count();
  }

  public int inFlight() {
    return router.dispatcher().report().stream()
        .mapToInt(report -> report.state().load().requestsInFlight())
        .sum();
  }

  /** Those at one replica. */
  public int inFlight(String replica) {
    return router.dispatcher().report().stream()
        .filter(report -> report.replica().name().equals(replica))
        .mapToInt(report -> report.state().load().requestsInFlight())
        .sum();
  }

  /** A port at which nobody listens until the test does; nobody else is given it meanwhile. */
  public static Socket reserved() throws IOException {
    Socket socket = new Socket();
    socket.setReuseAddress(true); // so that a server of the test may bind it too
    socket.bind(new InetSocketAddress("127.0.0.1", 0));
    return socket;
  }

  /** Waits until something is so; fails after a while. */
  public static void until(BooleanSupplier holds) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!holds.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("it did not come true in " + PATIENCE);
      }
      java.util.concurrent.locks.LockSupport.parkNanos(2_000_000);
    }
  }

  public void untilIdle() {
    until(() -> inFlight() == 0 && router.serving() == 0);
  }

  @Override
  public void close() {
    router.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}
