package dev.warmpath.lab.fleet;

import dev.warmpath.lab.bench.ChildProcess;
import dev.warmpath.lab.bench.JavaCommand;
import dev.warmpath.router.cli.Main;
import dev.warmpath.simulator.demo.ChatClient;
import dev.warmpath.simulator.demo.SessionLoad;
import dev.warmpath.simulator.demo.SessionRun;
import dev.warmpath.simulator.demo.SessionRun.SessionReport;
import dev.warmpath.simulator.live.Ports;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Measures routers one after the other: in each round, which has its seed, every router gets the
 * same chat sessions in front of engines that have just been started. The order changes from round
 * to round. Engines and routers are processes of their own; the load is in this one.
 *
 * <p>Confined to its caller.
 */
final class FleetBench {

  private static final Duration REQUEST_IDLE = Duration.ofSeconds(60);
  private static final Duration PROBE_IDLE = Duration.ofSeconds(5);
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final long POLL_MILLIS = 200;
  private static final double WARM_UP_SPEED = 20;
  private static final String PROBE =
      """
      {"model":"%s","messages":[{"role":"user","content":"Hi"}],"max_tokens":2,"stream":true}\
      """
          .formatted(FleetBenchPlan.MODEL);

  private final FleetBenchPlan plan;
  private final FleetSetup setup;
  private final Consumer<String> progress;
  private final List<FleetBenchReport.FleetCell> cells = new ArrayList<>();
  private final List<FleetBenchReport.Failure> failures = new ArrayList<>();

  FleetBench(FleetBenchPlan plan, FleetSetup setup, Consumer<String> progress) {
    this.plan = plan;
    this.setup = setup;
    this.progress = progress;
  }

  /**
   * Runs all turns. A router that does not come up, or ends, loses this turn only.
   *
   * @throws IOException if an engine does not come up or ends too soon; with the end of its log
   */
  FleetBenchReport run() throws IOException, InterruptedException {
    warmUp();
    for (int round = 0; round < plan.seeds().size(); round++) {
      List<BenchRouter> order = new ArrayList<>(setup.routers());
      Collections.rotate(order, -round);
      for (BenchRouter router : order) {
        turn(router, plan.seeds().get(round));
      }
    }
    List<String> names = setup.routers().stream().map(BenchRouter::name).toList();
    return new FleetBenchReport(names, cells, failures);
  }

  /** Lets this process compile the load before it is measured; the first turn would pay for it. */
  private void warmUp() throws IOException, InterruptedException {
    progress.accept("warming up the load");
    FleetBenchPlan fast =
        new FleetBenchPlan(
            1, plan.blocks(), plan.blockSizeTokens(), WARM_UP_SPEED, 20, 2, 0, 0, 0, List.of(0L));
    try (EngineProcesses engine = EngineProcesses.start(fast, setup)) {
      String url = "http://127.0.0.1:" + engine.ports().get(0).http();
      var unused = run(url, fast.load(0));
    }
  }

  private void turn(BenchRouter router, long seed) throws IOException, InterruptedException {
    progress.accept(
        "seed %d, %s: starting %d engines".formatted(seed, router.name(), plan.engines()));
    try (EngineProcesses engines = EngineProcesses.start(plan, setup)) {
      measure(router, seed, engines);
      engines.requireAlive();
    }
  }

  private void measure(BenchRouter router, long seed, EngineProcesses engines)
      throws InterruptedException {
    try (BenchRouter.Running running =
        router.start(engines.ports(), setup.log(router.name() + "-" + seed))) {
      awaitAnswer(router.name(), running);
      TimeUnit.MILLISECONDS.sleep((long) (1e3 * plan.settleSeconds()));
      if (plan.warmUpSeconds() > 0) {
        var unused = run(running.url(), plan.warmUp(seed));
      }
      SessionReport report = run(running.url(), plan.load(seed));
      running.requireAlive();
      FleetBenchReport.FleetCell cell = new FleetBenchReport.FleetCell(router.name(), seed, report);
      cells.add(cell);
      progress.accept(cell.line());
    } catch (IOException e) {
      String error = String.valueOf(e.getMessage());
      failures.add(new FleetBenchReport.Failure(router.name(), seed, error));
      progress.accept("seed %d, %s is left out: %s".formatted(seed, router.name(), error));
    }
  }

  private static SessionReport run(String url, SessionLoad load) throws InterruptedException {
    return new SessionRun(load, client(url), System::nanoTime).run();
  }

  private static ChatClient client(String url) {
    return new ChatClient(url, REQUEST_IDLE, System::nanoTime);
  }

  /** Waits until one chat is answered. */
  private static void awaitAnswer(String name, BenchRouter.Running router)
      throws IOException, InterruptedException {
    ChatClient client = new ChatClient(router.url(), PROBE_IDLE, System::nanoTime);
    long begin = System.nanoTime();
    String error = client.send(PROBE).error();
    while (error != null) {
      router.requireAlive();
      if (System.nanoTime() - begin > START_LIMIT.toNanos()) {
        throw new IOException(
            "%s answered no chat within %d s: %s".formatted(name, START_LIMIT.toSeconds(), error));
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      error = client.send(PROBE).error();
    }
  }

  /**
   * The simulated engines of one turn, each a process that begins with an empty cache.
   *
   * <p>Confined to the thread of the bench.
   */
  static final class EngineProcesses implements AutoCloseable {

    /**
     * Many run on few processors: little memory, and no compiler that outruns the engine's work.
     */
    private static final List<String> JAVA_OPTIONS =
        List.of("-Xmx600m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private final List<ChildProcess> processes = new ArrayList<>();
    private final List<Ports> ports = new ArrayList<>();

    private EngineProcesses() {}

    /**
     * Starts them and waits until they listen.
     *
     * @throws IOException if one does not; with the end of its log
     */
    static EngineProcesses start(FleetBenchPlan plan, FleetSetup setup) throws IOException {
      EngineProcesses engines = new EngineProcesses();
      try {
        for (int i = 0; i < plan.engines(); i++) {
          engines.processes.add(
              ChildProcess.startTalking(
                  "engine " + i,
                  JavaCommand.with(JAVA_OPTIONS, Main.class, arguments(plan, wanted(setup, i))),
                  setup.log("engine-" + i)));
        }
        for (ChildProcess process : engines.processes) {
          engines.ports.add(new Ports(port(process), port(process), port(process)));
        }
        return engines;
      } catch (IOException | RuntimeException e) {
        engines.close();
        throw e;
      }
    }

    List<Ports> ports() {
      return List.copyOf(ports);
    }

    /** Fails with the end of its log if one has ended. */
    void requireAlive() throws IOException {
      for (ChildProcess process : processes) {
        process.requireAlive();
      }
    }

    @Override
    public void close() {
      processes.forEach(ChildProcess::close);
    }

    private static Ports wanted(FleetSetup setup, int number) {
      int first = setup.enginePort() + number;
      return setup.enginePort() == 0
          ? Ports.ANY
          : new Ports(first, first + FleetSetup.EVENTS_OFFSET, first + FleetSetup.REPLAY_OFFSET);
    }

    private static List<String> arguments(FleetBenchPlan plan, Ports at) {
      List<String> arguments = new ArrayList<>(List.of("engine", "--model", FleetBenchPlan.MODEL));
      arguments.addAll(List.of("--port", Integer.toString(at.http())));
      arguments.addAll(List.of("--events-port", Integer.toString(at.events())));
      arguments.addAll(List.of("--replay-port", Integer.toString(at.replay())));
      arguments.addAll(List.of("--blocks", Integer.toString(plan.blocks())));
      arguments.addAll(List.of("--block-size", Integer.toString(plan.blockSizeTokens())));
      arguments.addAll(List.of("--speed", Double.toString(plan.speed()), "--topic", ""));
      return arguments;
    }

    /** From the next line that an engine prints at its start, which ends in a URL. */
    private static int port(ChildProcess engine) throws IOException {
      String line = engine.readLine();
      return URI.create(line.substring(line.lastIndexOf(' ') + 1)).getPort();
    }
  }

  /**
   * What is measured where.
   *
   * @param routers the first is what the others are compared to
   * @param enginePort HTTP port of the first engine; the others follow. Events are published
   *     {@value #EVENTS_OFFSET} ports above, replayed {@value #REPLAY_OFFSET} above. 0 for any
   *     ports
   * @param directory for the logs
   */
  record FleetSetup(List<BenchRouter> routers, int enginePort, Path directory) {

    static final int EVENTS_OFFSET = 100;
    static final int REPLAY_OFFSET = 200;

    private static final int LAST_PORT = 65_535 - REPLAY_OFFSET - FleetBenchPlan.MOST_ENGINES;

    FleetSetup {
      routers = List.copyOf(routers);
      if (routers.isEmpty()
          || routers.stream().map(BenchRouter::name).distinct().count() < routers.size()) {
        throw new IllegalArgumentException("no routers, or two of one name");
      }
      if (enginePort < 0 || enginePort > LAST_PORT) {
        throw new IllegalArgumentException(
            "engine port %d is not 0 to %d".formatted(enginePort, LAST_PORT));
      }
    }

    Path log(String name) {
      return directory.resolve(name + ".log");
    }
  }

  /**
   * Fleet and load of each turn.
   *
   * @param engines simulated engines, each a process
   * @param blocks of the KV cache of each
   * @param blockSizeTokens tokens a block
   * @param speed how many times faster the engines are than their time model
   * @param sessionsPerSecond chat sessions that arrive a second
   * @param seconds in which they arrive
   * @param thinkSeconds mean time from an answer to the next turn
   * @param settleSeconds from a router's first answer to the load
   * @param warmUpSeconds in which other sessions arrive before, so often, which are not measured;
   *     0: none do
   * @param seeds one round of turns for each
   */
  record FleetBenchPlan(
      int engines,
      int blocks,
      int blockSizeTokens,
      double speed,
      double sessionsPerSecond,
      double seconds,
      double thinkSeconds,
      double settleSeconds,
      double warmUpSeconds,
      List<Long> seeds) {

    static final String MODEL = "warmpath-demo";
    static final int MOST_ENGINES = 100;

    private static final int MOST_SEEDS = 100;
    private static final int MOST_WARM_UP_SECONDS = 3_600;

    FleetBenchPlan {
      seeds = List.copyOf(seeds);
      if (engines < 1 || engines > MOST_ENGINES) {
        throw new IllegalArgumentException(
            "engines=%d, not 1 to %d".formatted(engines, MOST_ENGINES));
      }
      if (seeds.isEmpty() || Set.copyOf(seeds).size() < seeds.size() || seeds.size() > MOST_SEEDS) {
        throw new IllegalArgumentException(
            "seeds=%s, not 1 to %d different ones".formatted(seeds, MOST_SEEDS));
      }
      if (!(warmUpSeconds >= 0 && warmUpSeconds <= MOST_WARM_UP_SECONDS)) {
        throw new IllegalArgumentException(
            "warm-up=%s s, not 0 to %d".formatted(warmUpSeconds, MOST_WARM_UP_SECONDS));
      }
      var unused = new SessionLoad(MODEL, sessionsPerSecond, seconds, thinkSeconds, seeds.get(0));
    }

    SessionLoad load(long seed) {
      return new SessionLoad(MODEL, sessionsPerSecond, seconds, thinkSeconds, seed);
    }

    /** With texts of its own, which no measured session shares. */
    SessionLoad warmUp(long seed) {
      return new SessionLoad(MODEL, sessionsPerSecond, warmUpSeconds, thinkSeconds, ~seed);
    }
  }
}
