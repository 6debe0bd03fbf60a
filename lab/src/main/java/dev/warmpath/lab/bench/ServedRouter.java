package dev.warmpath.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.demo.FleetPage;
import dev.warmpath.simulator.live.Ports;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Our router in a process of its own, as {@code warmpath serve} runs it.
 *
 * <p>Confined to the thread of the bench.
 */
public final class ServedRouter implements AutoCloseable {

  private static final Duration LIMIT =
      Duration.ofMinutes(3); // the first start ever makes a class cache
  private static final int OK = 200;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(LIMIT).build();
  private final int port;
  private final int adminPort;
  private final long startedNanos;
  private final FleetPage page;
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
    port = LoopbackPorts.free();
    adminPort = LoopbackPorts.free();
    List<String> arguments = new ArrayList<>(List.of("serve", "--port", Integer.toString(port)));
    arguments.addAll(List.of("--admin-port", Integer.toString(adminPort)));
    arguments.addAll(List.of("--tokenizer", model + "=" + tokenizer));
    arguments.addAll(List.of("--set", "snapshot.enabled=false"));
    arguments.addAll(List.of("--set", "shutdown.deadline-ms=1000"));
    for (int i = 0; i < replicas.size(); i++) {
      arguments.addAll(List.of("--replica", replica(i, replicas.get(i))));
    }
    arguments.addAll(flags);
    page = new FleetPage(adminUrl());
    startedNanos = System.nanoTime();
    process = ChildProcess.start("the router", JavaCommand.warmpath(arguments), log);
  }

  /** Waits until it takes requests; seconds since its process was started. */
  public double awaitReady() throws IOException, InterruptedException {
    await("/health/ready", LIMIT, () -> isReady());
    return (System.nanoTime() - startedNanos) / 1e9;
  }

  /** Waits until it follows the events of all replicas. */
  public void awaitExact() throws IOException, InterruptedException {
    await("the events of all replicas", LIMIT, () -> page.awaitReady(Duration.ofMillis(1)));
  }

  /** Waits until {@code condition} holds, as long as it runs. */
  public void await(String what, Duration limit, ChildProcess.Condition condition)
      throws IOException, InterruptedException {
    process.await(what, limit, condition);
  }

  /** Fails with the end of its log if it has ended. */
  public void requireAlive() throws IOException {
    process.requireAlive();
  }

  /** Where it takes requests. */
  public int port() {
    return port;
  }

  /** Base URL of its admin port. */
  public String adminUrl() {
    return "http://127.0.0.1:" + adminPort;
  }

  public long pid() {
    return process.pid();
  }

  /** The sum of all metrics of which the line begins so; 0 if there is none. */
  public double metric(String begin) throws IOException, InterruptedException {
    return ask(adminPort, "/metrics", null)
        .body()
        .lines()
        .filter(line -> line.startsWith(begin))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** {@code GET /admin/fleet}; an object without replicas while nobody listens. */
  public JsonNode fleet() throws InterruptedException {
    return page.read();
  }

  /** {@code POST /admin/explain}: how each engine would be judged for a request. */
  public JsonNode explain(String body) throws IOException, InterruptedException {
    return JSON.readTree(ask(adminPort, "/admin/explain", body).body());
  }

  /** Sends a completion request through it. */
  public HttpResponse<String> complete(String body) throws IOException, InterruptedException {
    return ask(port, "/v1/completions", body);
  }

  /** Ends it without a chance to do anything about it. */
  public void kill() {
    process.kill();
  }

  @Override
  public void close() {
    process.close();
  }

  /** Whether it says that it takes requests. */
  public boolean isReady() throws InterruptedException {
    try {
      return ask(port, "/health/ready", null).statusCode() == OK;
    } catch (IOException e) {
      return false; // nobody listens yet
    }
  }

  private HttpResponse<String> ask(int at, String path, @Nullable String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + at + path)).timeout(LIMIT);
    if (body != null) {
      request.header("content-type", "application/json").POST(BodyPublishers.ofString(body));
    }
    return http.send(request.build(), BodyHandlers.ofString());
  }

  private static String replica(int number, Ports at) {
    return "replica-%d=http://127.0.0.1:%d,events=tcp://127.0.0.1:%d,replay=tcp://127.0.0.1:%d"
        .formatted(number, at.http(), at.events(), at.replay());
  }

  /**
   * Flags of a bench for its routers.
   *
   * <p>Confined to the main thread.
   */
  public static final class RouterFlags {

    @Option(
        names = "--tokenizer",
        paramLabel = "DIR",
        defaultValue = "embedded",
        description = "The routers' tokenizer (${DEFAULT-VALUE}).")
    private String tokenizer = "embedded";

    @Option(
        names = "--set",
        paramLabel = "KEY=VALUE",
        description = "Handed to the routers; may be repeated.")
    private List<String> sets = new ArrayList<>();

    public String tokenizer() {
      return tokenizer;
    }

    /** Flags for {@code serve}. */
    public List<String> serveFlags() {
      return sets.stream().flatMap(set -> Stream.of("--set", set)).toList();
    }
  }
}
