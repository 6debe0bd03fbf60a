package dev.warmpath.lab.fleet;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.bench.ProcFiles;
import dev.warmpath.lab.bench.ProcFiles.CpuTime;
import dev.warmpath.lab.bench.ServedRouter;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.demo.ChatClient;
import dev.warmpath.simulator.demo.ChatLoad;
import dev.warmpath.simulator.demo.LoadRun;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.simulator.live.Ports;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench console}: what a look at the console costs.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "console",
    description = {
      "Starts an idle fleet of simulated engines and a router in a process of its own, and measures",
      "the router's CPU time without and with one viewer of the console."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  warmpath bench console --engines 200 --seconds 60"})
public final class BenchConsoleCommand implements WarmpathCommand {

  @Option(names = "--engines", defaultValue = "200", description = "Engines (${DEFAULT-VALUE}).")
  private int engines;

  @Option(names = "--rounds", defaultValue = "3", description = "Rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--seconds",
      defaultValue = "30",
      description = "Length of a measurement; two a round (${DEFAULT-VALUE}).")
  private int seconds;

  @Mixin private BenchOutput.WithLogs output = new BenchOutput.WithLogs();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (engines < 1 || engines > 1_000 || rounds < 1 || seconds < 1) {
      throw CommandException.usage("1 to 1000 engines, at least one round and one second");
    }
    ConsoleBench.Figures figures =
        new ConsoleBench(engines, rounds, seconds, output::progress)
            .run(output.directory("warmpath-console"));
    output.report(
        table -> {
          table.printf("a viewer costs %.1f ms CPU a second%n", figures.difference());
          table.flush();
        },
        toJson(figures));
    return Exit.OK;
  }

  private ObjectNode toJson(ConsoleBench.Figures figures) {
    ObjectNode root = new ObjectMapper().createObjectNode().put("engines", engines);
    figures.idle().forEach(root.putArray("idleMillisPerSecond")::add);
    figures.viewed().forEach(root.putArray("viewedMillisPerSecond")::add);
    return root;
  }

  /**
   * The CPU time of an idle router's process, without and with one viewer of the console's stream,
   * in turn. The engines are simulated, in this process, and have served some chats.
   *
   * <p>Confined to its caller.
   */
  private static final class ConsoleBench {

    /**
     * CPU milliseconds a second.
     *
     * @param idle without a viewer, round by round
     * @param viewed with one, round by round
     */
    record Figures(List<Double> idle, List<Double> viewed) {

      /** What the viewer costs. */
      double difference() {
        return mean(viewed) - mean(idle);
      }

      private static double mean(List<Double> values) {
        return values.stream().mapToDouble(value -> value).average().orElse(Double.NaN);
      }
    }

    private static final String MODEL = "bench";
    private static final int REQUESTS_PER_ENGINE = 5;
    private static final int CLIENTS = 16;
    private static final int CACHE_BLOCKS = 600;
    private static final double SPEED = 20;
    private static final int REST_SECONDS = 5;
    private static final double AS_BEFORE = 0.9;
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final int engines;
    private final int rounds;
    private final int seconds;
    private final Consumer<String> progress;
    private final HttpClient http = HttpClient.newHttpClient();

    /**
     * @param seconds how long a measurement takes; the first with a viewer begins after twice as
     *     long
     */
    ConsoleBench(int engines, int rounds, int seconds, Consumer<String> progress) {
      this.engines = engines;
      this.rounds = rounds;
      this.seconds = seconds;
      this.progress = progress;
    }

    /** Starts everything, measures, and ends it. */
    Figures run(Path directory) throws IOException, InterruptedException {
      ProcFiles proc = ProcFiles.ofTheMachine();
      try (ModelTokenizer tokenizer = ModelTokenizer.embedded();
          LiveEngines launcher = new LiveEngines(tokenizer);
          ServedRouter router =
              new ServedRouter(
                  MODEL, ports(launcher), "embedded", List.of(), directory.resolve("router.log"))) {
        router.awaitReady();
        router.awaitExact();
        serveChats(router);
        return measure(router, proc);
      }
    }

    private List<Ports> ports(LiveEngines launcher) {
      KvCacheConfig cache = KvCacheConfig.fullAttention(16, CACHE_BLOCKS);
      EngineConfig config =
          new EngineConfig(cache, 1024, 64, cache.maxSequenceTokens(), StepCost.H100X4);
      LiveEngineOptions options = LiveEngineOptions.of(MODEL, config);
      List<Ports> ports = new ArrayList<>();
      for (int i = 0; i < engines; i++) {
        LiveEngine engine = launcher.start(options.pace(SPEED, options.answerTokens()));
        ports.add(engine.ports());
      }
      return ports;
    }

    private void serveChats(ServedRouter router) throws InterruptedException {
      String url = "http://127.0.0.1:" + router.port();
      ChatLoad load =
          new ChatLoad(
              MODEL, REQUESTS_PER_ENGINE * engines, 2 * engines + CLIENTS, 10, 5, 40, 60, 8, 1);
      new LoadRun(load, new ChatClient(url, LIMIT, System::nanoTime), CLIENTS, done -> {}).run();
      progress.accept(load.requests() + " requests served by " + engines + " engines");
    }

    private Figures measure(ServedRouter router, ProcFiles proc)
        throws IOException, InterruptedException {
      look(router, () -> TimeUnit.SECONDS.sleep(2L * seconds)); // compiles
      awaitRest(router, proc);
      List<Double> idle = new ArrayList<>();
      List<Double> viewed = new ArrayList<>();
      for (int round = 0; round < rounds; round++) {
        idle.add(millisPerSecond(router, proc, seconds));
        look(router, () -> viewed.add(millisPerSecond(router, proc, seconds)));
        progress.accept(
            "idle %.1f, with a viewer %.1f ms CPU a second"
                .formatted(idle.get(round), viewed.get(round)));
      }
      return new Figures(idle, viewed);
    }

    /** What the router does without a viewer falls until its compiler has nothing left to do. */
    private void awaitRest(ServedRouter router, ProcFiles proc)
        throws IOException, InterruptedException {
      long sinceNanos = System.nanoTime();
      double before = millisPerSecond(router, proc, REST_SECONDS);
      for (double now = millisPerSecond(router, proc, REST_SECONDS);
          now < AS_BEFORE * before;
          now = millisPerSecond(router, proc, REST_SECONDS)) {
        if (System.nanoTime() - sinceNanos > LIMIT.toNanos()) {
          throw CommandException.failed(
              "the router does not come to rest: %.1f, then %.1f ms CPU a second without a viewer"
                  .formatted(before, now));
        }
        before = now;
      }
    }

    private interface Measurement {
      void run() throws IOException, InterruptedException;
    }

    /** Reads the console's stream while {@code during} runs. */
    private void look(ServedRouter router, Measurement during)
        throws IOException, InterruptedException {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(router.adminUrl() + "/admin/console/live")).build();
      CompletableFuture<HttpResponse<Void>> stream =
          http.sendAsync(request, BodyHandlers.discarding());
      awaitListeners(router, 1);
      during.run();
      stream.cancel(true);
      awaitListeners(router, 0);
    }

    private static void awaitListeners(ServedRouter router, int wanted)
        throws IOException, InterruptedException {
      router.await(
          wanted + " viewers", LIMIT, () -> router.metric("warmpath_console_listeners ") == wanted);
    }

    private static double millisPerSecond(ServedRouter router, ProcFiles proc, int seconds)
        throws IOException, InterruptedException {
      TimeUnit.SECONDS.sleep(1); // what asked for the listeners is over
      Set<Long> process = Set.of(router.pid());
      CpuTime begin = proc.cpuTime(process);
      long beginNanos = System.nanoTime();
      TimeUnit.SECONDS.sleep(seconds);
      long cpuNanos = proc.cpuTime(process).nanosSince(begin);
      return 1e3 * cpuNanos / (System.nanoTime() - beginNanos);
    }
  }
}
