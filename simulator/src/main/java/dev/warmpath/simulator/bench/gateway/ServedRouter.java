package dev.warmpath.simulator.bench.gateway;

import dev.warmpath.simulator.bench.gateway.report.GatewayReport;
import dev.warmpath.simulator.bench.process.ChildProcess;
import dev.warmpath.simulator.bench.process.JavaCommand;
import dev.warmpath.simulator.load.FleetPage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Our router in a process of its own, as {@code warmpath serve} runs it.
 *
 * <p>Confined to the thread of the bench.
 */
final class ServedRouter implements AutoCloseable {

  private static final Duration LIMIT =
      Duration.ofMinutes(3); // the first start ever makes a class cache
  private static final int OK = 200;
  private static final String FALLBACKS = "warmpath_fallbacks_total{";

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(LIMIT).build();
  private final int port;
  private final int adminPort;
  private final long startedNanos;
  private final ChildProcess process;

  /**
   * Starts it.
   *
   * @param tokenizer as {@code serve} takes it behind the model's name
   * @param flags more for {@code serve}
   */
  ServedRouter(List<Backends.Replica> replicas, String tokenizer, List<String> flags, Path log)
      throws IOException {
    port = freePort();
    adminPort = freePort();
    List<String> arguments = new ArrayList<>(List.of("serve", "--port", Integer.toString(port)));
    arguments.addAll(List.of("--admin-port", Integer.toString(adminPort)));
    arguments.addAll(List.of("--tokenizer", Backends.MODEL + "=" + tokenizer));
    arguments.addAll(List.of("--set", "parity.enabled=false", "--set", "snapshot.enabled=false"));
    arguments.addAll(List.of("--set", "shutdown.deadline-ms=1000"));
    for (int i = 0; i < replicas.size(); i++) {
      arguments.addAll(List.of("--replica", replicas.get(i).flag(i)));
    }
    arguments.addAll(flags);
    startedNanos = System.nanoTime();
    process = ChildProcess.start("the router", JavaCommand.warmpath(arguments), log);
  }

  /** Waits until it takes requests; seconds since its process was started. */
  double awaitReady() throws IOException, InterruptedException {
    process.await("/health/ready", LIMIT, () -> status(port, "/health/ready") == OK);
    return (System.nanoTime() - startedNanos) / 1e9;
  }

  /** Waits until it follows the events of all replicas. */
  void awaitExact() throws IOException, InterruptedException {
    FleetPage page = new FleetPage("http://127.0.0.1:" + adminPort);
    process.await("the events of all replicas", LIMIT, () -> page.awaitReady(Duration.ofMillis(1)));
  }

  /** Fails with the end of its log if it has ended. */
  void requireAlive() throws IOException {
    process.requireAlive();
  }

  Gateway gateway() {
    return new Gateway(GatewayReport.OURS, List.of(Gateway.loopback(port)), Set.of(process.pid()));
  }

  /** Requests so far that it routed without knowing their prompts. */
  long fallbacks() throws IOException, InterruptedException {
    return ask(adminPort, "/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith(FALLBACKS))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  @Override
  public void close() {
    process.close();
  }

  private int status(int at, String path) throws InterruptedException {
    try {
      return ask(at, path).statusCode();
    } catch (IOException e) {
      return 0; // nobody listens yet
    }
  }

  private HttpResponse<String> ask(int at, String path) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + at + path);
    return http.send(HttpRequest.newBuilder(uri).timeout(LIMIT).build(), BodyHandlers.ofString());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
