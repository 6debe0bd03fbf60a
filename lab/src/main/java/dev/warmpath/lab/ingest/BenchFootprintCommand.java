package dev.warmpath.lab.ingest;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.bench.ProcFiles;
import dev.warmpath.lab.bench.ProcFiles.Footprint;
import dev.warmpath.lab.bench.ServedRouter;
import dev.warmpath.lab.gateway.StubServer;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.live.Ports;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench footprint}: measures what the parts of a router take of memory.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "footprint",
    description = {
      "Reads the resident memory of a router part by part: with one engine and the embedded",
      "tokenizer (alone), with the tokenizer that is asked for, with all engines,",
      "with their blocks, and with request bodies on their way. WARMPATH_JAVA_OPTS holds for the",
      "router, not for the bench."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Example:",
      "  warmpath bench footprint --engines 64 --blocks 40000 --tokenizer DIR --json"
    })
public final class BenchFootprintCommand implements WarmpathCommand {

  @Option(names = "--engines", defaultValue = "8", description = "Engines (${DEFAULT-VALUE}).")
  private int engines;

  @Option(
      names = "--blocks",
      defaultValue = "40000",
      description = "Blocks that each engine holds (${DEFAULT-VALUE}).")
  private int blocks;

  @Option(
      names = "--bodies-mib",
      defaultValue = "64",
      description = "Request bodies on their way at once (${DEFAULT-VALUE}); 0: none.")
  private int bodiesMib;

  @Option(
      names = "--settle",
      paramLabel = "SECONDS",
      defaultValue = "20",
      description = "Without work before each reading (${DEFAULT-VALUE}).")
  private int settleSeconds;

  @Option(
      names = "--tokenizer",
      paramLabel = "DIR",
      defaultValue = "embedded",
      description = "The router's tokenizer (${DEFAULT-VALUE}).")
  private String tokenizer = "embedded";

  @Mixin private BenchOutput.WithLogs output = new BenchOutput.WithLogs();

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<FootprintBench.Part> parts =
        new FootprintBench(plan(), output.directory("warmpath-footprint"), output::progress).run();
    output.report(table -> print(table, parts), json(parts));
    return Exit.OK;
  }

  private FootprintBench.Plan plan() {
    try {
      return new FootprintBench.Plan(tokenizer, engines, blocks, bodiesMib, settleSeconds);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private static void print(PrintWriter table, List<FootprintBench.Part> parts) {
    table.printf("%-10s %12s %8s %8s%n", "with", "blocks", "RSS MiB", "threads");
    for (FootprintBench.Part part : parts) {
      table.printf(
          "%-10s %,12d %8.0f %8d%n",
          part.name(), part.blocks(), part.footprint().residentMib(), part.footprint().threads());
    }
    table.flush();
  }

  private ObjectNode json(List<FootprintBench.Part> parts) {
    ObjectNode root =
        new ObjectMapper().createObjectNode().put("engines", engines).put("bodiesMib", bodiesMib);
    ArrayNode list = root.putArray("parts");
    for (FootprintBench.Part part : parts) {
      list.addObject()
          .put("name", part.name())
          .put("blocks", part.blocks())
          .put("residentMib", Math.round(part.footprint().residentMib()))
          .put("threads", part.footprint().threads());
    }
    return root;
  }

  /**
   * Measures the memory of a router part by part: with one engine, with a tokenizer, with all
   * engines, with the blocks that they hold, and with requests whose bodies are on their way.
   *
   * <p>Confined to its caller.
   */
  private static final class FootprintBench {

    private static final String MODEL = "bench";
    private static final String EMBEDDED = "embedded";
    private static final int AHEAD_BATCHES = 50;
    private static final int BODY_BYTES = 1 << 20;
    private static final double KNOWN_SHARE = 0.99;
    private static final Duration LIMIT = Duration.ofMinutes(3);

    /**
     * What is measured.
     *
     * @param tokenizer of the router: a directory, or {@code embedded}
     * @param blocks that each engine holds
     * @param bodiesMib request bodies on their way at once; 0: none
     * @param settleSeconds without work before each reading
     */
    record Plan(String tokenizer, int engines, int blocks, int bodiesMib, int settleSeconds) {

      Plan {
        requireIn("engines", engines, 1, 1_000);
        requireIn("blocks", blocks, 1_000, 10_000_000);
        requireIn("bodies-mib", bodiesMib, 0, 500);
        requireIn("settle", settleSeconds, 0, 600);
      }

      private static void requireIn(String name, int value, int least, int most) {
        if (value < least || value > most) {
          throw new IllegalArgumentException(
              "--%s %d is not %d to %d".formatted(name, value, least, most));
        }
      }
    }

    /**
     * The router with one more part.
     *
     * @param blocks that it knows, each engine's counted
     */
    record Part(String name, long blocks, Footprint footprint) {}

    private final Plan plan;
    private final Path directory;
    private final Consumer<String> progress;
    private final ProcFiles proc;
    private final List<Part> parts = new ArrayList<>();

    /**
     * @param directory for the router's logs
     * @throws IOException if the system shows no memory of processes
     */
    FootprintBench(Plan plan, Path directory, Consumer<String> progress) throws IOException {
      this.plan = plan;
      this.directory = directory;
      this.progress = progress;
      proc = ProcFiles.ofTheMachine();
    }

    /** Runs it. */
    List<Part> run() throws IOException, InterruptedException {
      List<RecoveryEngine> engines = new ArrayList<>();
      try (StubServer stub =
          new StubServer(MODEL, Collections.nCopies(plan.engines, 0), 2L * plan.blocks)) {
        List<Ports> replicas = new ArrayList<>();
        for (int i = 0; i < plan.engines; i++) {
          engines.add(new RecoveryEngine(i, plan.blocks));
          replicas.add(engines.get(i).ports(stub.ports().get(i)));
        }
        List<Ports> one = replicas.subList(0, 1);
        alone("alone", EMBEDDED, one);
        if (!plan.tokenizer.equals(EMBEDDED)) {
          alone("tokenizer", plan.tokenizer, one);
        }
        follow(replicas, engines);
      } finally {
        engines.forEach(RecoveryEngine::close);
      }
      return List.copyOf(parts);
    }

    private void alone(String name, String tokenizer, List<Ports> replicas)
        throws IOException, InterruptedException {
      try (ServedRouter router = router(tokenizer, replicas, name + ".log")) {
        router.awaitExact();
        read(name, router, 0);
      }
    }

    private void follow(List<Ports> replicas, List<RecoveryEngine> engines)
        throws IOException, InterruptedException {
      try (ServedRouter router = router(plan.tokenizer, replicas, "engines.log")) {
        router.awaitExact();
        read("engines", router, 0);
        fill(router, engines);
        long truth = engines.stream().mapToLong(RecoveryEngine::memberships).sum();
        router.await("all blocks", LIMIT, () -> known(router) >= KNOWN_SHARE * truth);
        read("blocks", router, known(router));
        if (plan.bodiesMib > 0) {
          bodies(router);
        }
      }
    }

    private ServedRouter router(String tokenizer, List<Ports> replicas, String log)
        throws IOException, InterruptedException {
      List<String> flags = List.of("--set", "parity.enabled=false", "--set", "health.fall=20");
      ServedRouter router =
          new ServedRouter(MODEL, replicas, tokenizer, flags, directory.resolve(log));
      router.awaitReady();
      return router;
    }

    /** Has the engines serve until their caches are full, in step with the router. */
    private void fill(ServedRouter router, List<RecoveryEngine> engines)
        throws IOException, InterruptedException {
      progress.accept("filling %d caches of %,d blocks".formatted(plan.engines, plan.blocks));
      while (!engines.stream().allMatch(RecoveryEngine::isFull)) {
        for (RecoveryEngine engine : engines) {
          long until = engine.batches() + AHEAD_BATCHES;
          while (!engine.isFull() && engine.batches() < until) {
            engine.serve();
          }
        }
        router.await("events", LIMIT, () -> hasApplied(router, engines));
      }
    }

    private static boolean hasApplied(ServedRouter router, List<RecoveryEngine> engines)
        throws InterruptedException {
      JsonNode replicas = router.fleet().path("replicas");
      for (int i = 0; i < engines.size(); i++) {
        long last = events(replicas.path(i)).path("lastSequence").asLong(-1);
        if (last + 1 < engines.get(i).batches()) {
          return false;
        }
      }
      return true;
    }

    private static long known(ServedRouter router) throws InterruptedException {
      long known = 0;
      for (JsonNode replica : router.fleet().path("replicas")) {
        known += replica.path("engines").path(0).path("index").path("namedBlocks").asLong();
      }
      return known;
    }

    private static JsonNode events(JsonNode replica) {
      return replica.path("engines").path(0).path("events");
    }

    /** Sends all but the last byte of each body. */
    private void bodies(ServedRouter router) throws IOException, InterruptedException {
      progress.accept("%d MiB of bodies on their way".formatted(plan.bodiesMib));
      byte[] head =
          "POST /v1/chat/completions HTTP/1.1\r\nhost: m\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
              .formatted(BODY_BYTES + 1)
              .getBytes(US_ASCII);
      byte[] body = " ".repeat(BODY_BYTES).getBytes(US_ASCII);
      List<Socket> clients = new ArrayList<>();
      try {
        for (int i = 0; i < plan.bodiesMib; i++) {
          Socket client = new Socket(InetAddress.getLoopbackAddress(), router.port());
          clients.add(client);
          client.getOutputStream().write(head);
          client.getOutputStream().write(body);
        }
        router.await(
            "the bodies", LIMIT, () -> held(router) >= clients.size() * (double) BODY_BYTES);
        add("bodies", router, known(router));
      } finally {
        for (Socket client : clients) {
          client.close();
        }
      }
    }

    private static double held(ServedRouter router) throws InterruptedException {
      try {
        return router.metric("warmpath_request_bodies_bytes ");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void read(String name, ServedRouter router, long blocks)
        throws IOException, InterruptedException {
      progress.accept("settling: " + name);
      TimeUnit.SECONDS.sleep(plan.settleSeconds);
      router.requireAlive();
      add(name, router, blocks);
    }

    private void add(String name, ServedRouter router, long blocks) throws IOException {
      parts.add(new Part(name, blocks, proc.footprint(Set.of(router.pid()))));
    }
  }
}
