package dev.warmpath.simulator.bench.recovery;

import static java.lang.Double.NaN;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.bench.process.JavaCommand;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A router in a process of its own, which can be killed.
 *
 * <p>Confined to the thread of the bench.
 */
final class RouterChild implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(PATIENCE).build();
  private final Path directory;
  private final Path config;
  private final int port;
  private final int adminPort;
  private Process process;

  /** Starts one with what {@code replicas} says in YAML, working in {@code directory}. */
  RouterChild(Path directory, String model, String replicas, int snapshotMillis)
      throws IOException {
    this.directory = directory;
    port = freePort();
    adminPort = freePort();
    config = directory.resolve("warmpath.yaml");
    Files.writeString(
        config,
        """
        listen: {port: %d}
        admin: {port: %d}
        headers: {cached-tokens: true}
        health: {interval-ms: 500, timeout-ms: 5000, fall: 20}
        models: [{name: %s, tokenizer: embedded}]
        snapshot: {dir: %s, interval-ms: %d, max-pause-ms: 30000}
        replicas:
        %s\
        """
            .formatted(
                port, adminPort, model, directory.resolve("data"), snapshotMillis, replicas));
    process = start();
  }

  /** The same router once more; the one before must have been killed. */
  void restart() throws IOException {
    process = start();
  }

  /** Ends it without a chance to do anything about it. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** What its process has computed so far; NaN where the system does not say. */
  double cpuSeconds() {
    return process.toHandle().info().totalCpuDuration().map(d -> d.toMillis() / 1e3).orElse(NaN);
  }

  /** What it has printed. */
  String output() throws IOException {
    return Files.readString(directory.resolve("router.log"));
  }

  /** {@code GET /admin/fleet}; an empty object while nobody listens. */
  JsonNode fleet() throws InterruptedException {
    try {
      return JSON.readTree(ask(adminPort, "/admin/fleet", null).body());
    } catch (IOException e) {
      return JSON.createObjectNode();
    }
  }

  /** How each engine would be judged for a request. */
  JsonNode explain(String body) throws IOException, InterruptedException {
    return JSON.readTree(ask(adminPort, "/admin/explain", body).body());
  }

  /** Sends a request through it; the tokens that it said would be cached, −1 if it said nothing. */
  int route(String body) throws InterruptedException {
    try {
      HttpResponse<String> response = ask(port, "/v1/completions", body);
      String tokens = response.headers().firstValue("x-warmpath-cached-tokens").orElse("");
      return response.statusCode() == 200 && tokens.matches("\\d{1,9}")
          ? Integer.parseInt(tokens)
          : -1;
    } catch (IOException e) {
      return -1;
    }
  }

  /** A metric without labels, or with just these; 0 if there is none. */
  double metric(String name) throws InterruptedException {
    try {
      return ask(adminPort, "/metrics", null)
          .body()
          .lines()
          .filter(line -> line.startsWith(name + " "))
          .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }

  private HttpResponse<String> ask(int at, String path, @Nullable String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + at + path)).timeout(PATIENCE);
    if (body != null) {
      request
          .header("content-type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(body));
    }
    return http.send(request.build(), BodyHandlers.ofString());
  }

  private Process start() throws IOException {
    List<String> command = JavaCommand.warmpath(List.of("serve", "--config", config.toString()));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("router.log").toFile()))
        .start();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
