package dev.warmpath.simulator.bench.process;

import dev.warmpath.simulator.live.Ports;
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

/**
 * Our router in a process of its own, as {@code warmpath serve} runs it.
 *
 * <p>Confined to the thread of the bench.
 */
public final class ServedRouter implements AutoCloseable {

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
   * Starts it on any ports.
   *
   * @param model that the replicas serve
   * @param replicas all on the loopback interface
   * @param tokenizer as {@code serve} takes it behind the model's name
   * @param flags more for {@code serve}
   */
  public ServedRouter(
      String model, List<Ports> replicas, String tokenizer, List<String> flags, Path log)
      throws IOException {
    port = freePort();
    adminPort = freePort();
    List<String> arguments = new ArrayList<>(List.of("serve", "--port", Integer.toString(port)));
    arguments.addAll(List.of("--admin-port", Integer.toString(adminPort)));
    arguments.addAll(List.of("--tokenizer", model + "=" + tokenizer));
    arguments.addAll(List.of("--set", "snapshot.enabled=false"));
    arguments.addAll(List.of("--set", "shutdown.deadline-ms=1000"));
    for (int i = 0; i < replicas.size(); i++) {
      arguments.addAll(List.of("--replica", replica(i, replicas.get(i))));
    }
    arguments.addAll(flags);
    startedNanos = System.nanoTime();
    process = ChildProcess.start("the router", JavaCommand.warmpath(arguments), log);
  }

  /** Waits until it takes requests; seconds since its process was started. */
  public double awaitReady() throws IOException, InterruptedException {
    process.await("/health/ready", LIMIT, () -> status(port, "/health/ready") == OK);
    return (System.nanoTime() - startedNanos) / 1e9;
  }

  /** Waits until it follows the events of all replicas. */
  public void awaitExact() throws IOException, InterruptedException {
    FleetPage page = new FleetPage("http://127.0.0.1:" + adminPort);
    process.await("the events of all replicas", LIMIT, () -> page.awaitReady(Duration.ofMillis(1)));
  }

  /** Fails with the end of its log if it has ended. */
  public void requireAlive() throws IOException {
    process.requireAlive();
  }

  /** Where it takes requests. */
  public int port() {
    return port;
  }

  public long pid() {
    return process.pid();
  }

  /** Requests so far that it routed without knowing their prompts. */
  public long fallbacks() throws IOException, InterruptedException {
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

  private static String replica(int number, Ports at) {
    return "replica-%d=http://127.0.0.1:%d,events=tcp://127.0.0.1:%d,replay=tcp://127.0.0.1:%d"
        .formatted(number, at.http(), at.events(), at.replay());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
