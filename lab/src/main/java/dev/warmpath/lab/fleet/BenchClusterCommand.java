package dev.warmpath.lab.fleet;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.bench.LoopbackPorts;
import dev.warmpath.lab.bench.Meters;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.router.cluster.Cluster;
import dev.warmpath.router.cluster.ClusterLink;
import dev.warmpath.router.cluster.RouterId;
import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.DispatchResult;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.simulator.study.Spread;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench cluster}: what it costs routers to be of one mind.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "cluster",
    description = {
      "Routers in one process, over a mesh on loopback, choose engines for requests that come at a",
      "steady rate; engines are made up. Measured are the bytes of a router, and the CPU time beside",
      "the same load without a mesh, in turns."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Example:",
      "  warmpath bench cluster --routers 4 --engines 64 --rate 500 --json"
    })
public final class BenchClusterCommand implements WarmpathCommand {

  @Option(names = "--routers", defaultValue = "4", description = "Routers (${DEFAULT-VALUE}).")
  private int routers;

  @Option(names = "--engines", defaultValue = "64", description = "Engines (${DEFAULT-VALUE}).")
  private int engines;

  @Option(
      names = "--rate",
      defaultValue = "500",
      description = "Requests a second, of all routers together (${DEFAULT-VALUE}).")
  private int rate;

  @Option(
      names = "--prompt-tokens",
      defaultValue = "8000",
      description = "Tokens of a prompt, half of them shared with others (${DEFAULT-VALUE}).")
  private int promptTokens;

  @Option(
      names = "--seconds",
      defaultValue = "10",
      description = "Seconds of each turn (${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--turns",
      defaultValue = "3",
      description = "Turns with and without a mesh, each (${DEFAULT-VALUE}).")
  private int turns;

  @Mixin private BenchOutput output = new BenchOutput();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (routers < 2 || routers > 16 || engines < 1 || rate < 1 || seconds < 1 || turns < 1) {
      throw CommandException.usage("2 to 16 routers; engines, rate, seconds and turns from 1");
    }
    ClusterBench bench = new ClusterBench(routers, engines, rate, promptTokens, output::progress);
    ClusterBench.Report report = bench.run(turns, seconds);
    output.report(table -> print(table, report), toJson(report));
    return Exit.OK;
  }

  private void print(PrintWriter table, ClusterBench.Report report) {
    table.printf(
        "%d routers, %d engines, %d requests/s, %d turns of %d s each%n",
        routers, engines, rate, turns, seconds);
    table.printf(
        "CPU of a router for the mesh: %.2f %% of a core (%.2f to %.2f)%n",
        report.cpuPercent().median(), report.cpuPercent().min(), report.cpuPercent().max());
    table.printf(
        "bytes of a router: %.0f kB/s sent (%.0f to %.0f), %.0f kB/s received%n",
        report.sentKilobytes().median(),
        report.sentKilobytes().min(),
        report.sentKilobytes().max(),
        report.receivedKilobytes().median());
    table.printf(
        "choices before another router's was heard of: %.2f %% of %,d; asked again: %d%n",
        report.blindPercent(), report.requests(), report.askedAgain());
    table.flush();
  }

  private ObjectNode toJson(ClusterBench.Report report) {
    ObjectNode root = new ObjectMapper().createObjectNode();
    root.put("routers", routers).put("engines", engines).put("rate", rate);
    root.put("promptTokens", promptTokens).put("turns", turns).put("seconds", seconds);
    report.cpuPercent().put(root, "cpuPercentOfACore");
    report.sentKilobytes().put(root, "sentKilobytesPerSecond");
    report.receivedKilobytes().put(root, "receivedKilobytesPerSecond");
    root.put("requests", report.requests()).put("blindPercent", report.blindPercent());
    root.put("askedAgain", report.askedAgain());
    return root;
  }

  /**
   * Routers without clients and engines, once with a mesh and once without, under the same load.
   *
   * <p>Confined to one thread, which makes all requests of all routers.
   */
  private static final class ClusterBench {

    private static final int BLOCK_TOKENS = 16;
    private static final int FAMILIES = 200;
    private static final long FIRST_TOKEN_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int WARM_UP_SECONDS = 10;
    private static final int JOIN_SECONDS = 30;

    /**
     * All that was measured.
     *
     * @param cpuPercent of a core, for a router: the difference to the turn before, without a mesh
     * @param blindPercent of the choices: made while one by another router was not heard of
     */
    record Report(
        Spread cpuPercent,
        Spread sentKilobytes,
        Spread receivedKilobytes,
        long requests,
        double blindPercent,
        long askedAgain) {}

    /** What one turn took. */
    private record Turn(
        double cpuPercent, double sentKilobytes, double receivedKilobytes, Counts counts) {}

    private record Counts(long sent, long received, long requests, long blind, long asked) {

      Counts less(Counts before) {
        return new Counts(
            sent - before.sent,
            received - before.received,
            requests - before.requests,
            blind - before.blind,
            asked - before.asked);
      }
    }

    private final int routers;
    private final int engines;
    private final int rate;
    private final int promptBlocks;
    private final Consumer<String> progress;
    private final Meters meters = new Meters();
    private final ChainSpace space = new ChainSpace("bench", BLOCK_TOKENS, 0);

    ClusterBench(int routers, int engines, int rate, int promptTokens, Consumer<String> progress) {
      this.routers = routers;
      this.engines = engines;
      this.rate = rate;
      this.promptBlocks = Math.max(2, promptTokens / BLOCK_TOKENS);
      this.progress = progress;
    }

    /** One router; alone or not. */
    private final class Router implements AutoCloseable {
      final Dispatcher dispatcher;
      final List<Cluster> cluster = new ArrayList<>(1);
      final List<ClusterLink> link = new ArrayList<>(1);
      final ScheduledExecutorService time = Executors.newSingleThreadScheduledExecutor();

      Router(int number, List<String> peers, boolean alone) {
        List<DispatchListener> listeners = new ArrayList<>();
        if (!alone) {
          ClusterConfig config = config(number, peers);
          RouterId id = new RouterId("router-" + number, new Random().nextLong() >>> 1);
          link.add(ClusterLink.of(config, id));
          cluster.add(
              new Cluster(
                  id,
                  link.get(0),
                  TimeUnit.MILLISECONDS.toNanos(config.expireMs()),
                  System::nanoTime,
                  System::currentTimeMillis,
                  Cluster.Host.NONE));
          listeners.addAll(cluster);
        }
        RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(1_000));
        Map<Replica, EngineView> views = new HashMap<>();
        Fleet fleet = new Fleet();
        for (int i = 0; i < engines; i++) {
          Replica replica =
              new Replica("engine-" + i, URI.create("http://bench"), Set.of("bench"), 1);
          replica.health(Replica.Health.UP);
          views.put(
              replica, new EngineView(index.addEngine(CopyCounting.PER_COPY), space, Trust.EXACT));
          fleet.add(replica);
        }
        dispatcher =
            new Dispatcher(
                fleet,
                index,
                new EngineEvents() {
                  @Override
                  public EngineView view(Replica replica, int rank) {
                    return views.getOrDefault(replica, EngineView.UNSEEN);
                  }
                },
                Policies.named("warm", Map.of()),
                new Dispatcher.Limits(ExpectedBlocks.Limits.DEFAULT, 100_000, 1),
                new Dispatcher.Environment(
                    System::nanoTime, new Random(number), new Metrics(), listeners));
        if (!alone) {
          int deltaMs = config(number, peers).deltaMs();
          cluster.get(0).begin(dispatcher);
          var unused =
              time.scheduleWithFixedDelay(
                  cluster.get(0)::tick, deltaMs, deltaMs, TimeUnit.MILLISECONDS);
        }
      }

      boolean isJoined() {
        return cluster.stream()
            .allMatch(here ->
                here.status().peers().stream().filter(Cluster.Peer::reachable).count()
                    == routers - 1);
      }

      @Override
      public void close() {
        time.shutdownNow();
        cluster.forEach(Cluster::close);
      }
    }

    private static ClusterConfig config(int number, List<String> peers) {
      String port = peers.get(number).substring(peers.get(number).lastIndexOf(':') + 1);
      try {
        return ConfigTree.parse(
                """
                cluster:
                  mode: mesh
                  member: router-%d
                  secret: a secret of the benchmark
                  host: 127.0.0.1
                  port: %s
                  peers: [%s]
                """
                    .formatted(number, port, String.join(", ", peers)),
                "bench")
            .config()
            .cluster();
      } catch (ConfigException e) {
        throw new IllegalStateException(e);
      }
    }

    Report run(int turns, int seconds) throws IOException, InterruptedException {
      List<Double> cpu = new ArrayList<>();
      List<Double> sent = new ArrayList<>();
      List<Double> received = new ArrayList<>();
      long requests = 0;
      long blind = 0;
      long asked = 0;
      for (int turn = 1; turn <= turns; turn++) {
        Turn alone = turn(true, seconds);
        Turn together = turn(false, seconds);
        cpu.add((together.cpuPercent - alone.cpuPercent) / routers);
        sent.add(together.sentKilobytes / routers);
        received.add(together.receivedKilobytes / routers);
        requests += together.counts.requests;
        blind += together.counts.blind;
        asked += together.counts.asked;
        progress.accept(
            "turn %d: CPU %.2f %% alone, %.2f %% together"
                .formatted(turn, alone.cpuPercent, together.cpuPercent));
      }
      return new Report(
          spread(cpu), spread(sent), spread(received), requests, 100.0 * blind / requests, asked);
    }

    private static Spread spread(List<Double> turns) {
      return Spread.of(turns.stream().mapToDouble(Double::doubleValue).toArray());
    }

    private Turn turn(boolean alone, int seconds) throws IOException, InterruptedException {
      List<String> peers = new ArrayList<>();
      for (int i = 0; i < routers; i++) {
        peers.add("127.0.0.1:" + LoopbackPorts.free());
      }
      List<Router> all = new ArrayList<>();
      try {
        for (int i = 0; i < routers; i++) {
          all.add(new Router(i, peers, alone));
        }
        awaitJoined(all);
        Load load = new Load(all);
        load.run(WARM_UP_SECONDS);
        Counts before = counts(all, load);
        long cpuNanos = meters.processCpuNanos();
        load.run(seconds);
        double took = seconds;
        double cpuPercent = 100 * (meters.processCpuNanos() - cpuNanos) / 1e9 / took;
        Counts counts = counts(all, load).less(before);
        return new Turn(cpuPercent, counts.sent / 1e3 / took, counts.received / 1e3 / took, counts);
      } finally {
        all.forEach(Router::close);
      }
    }

    private void awaitJoined(List<Router> all) throws IOException {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(JOIN_SECONDS);
      while (!all.stream().allMatch(Router::isJoined)) {
        if (System.nanoTime() - deadline > 0) {
          throw new IOException(
              "the routers did not find each other within "
                  + JOIN_SECONDS
                  + " s: "
                  + problems(all));
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      }
    }

    private static String problems(List<Router> all) {
      return all.stream()
          .flatMap(router -> router.link.stream())
          .map(link -> link.status().problem())
          .filter(problem -> !problem.isEmpty())
          .collect(Collectors.joining("; "));
    }

    private static Counts counts(List<Router> all, Load load) {
      long sent = 0;
      long received = 0;
      long blind = 0;
      long asked = 0;
      for (Router router : all) {
        for (Cluster cluster : router.cluster) {
          Cluster.Status status = cluster.status();
          sent += status.link().sentBytes();
          received += status.link().receivedBytes();
          blind += status.blindChoices();
          asked += status.askedAgain();
        }
      }
      return new Counts(sent, received, load.requests, blind, asked);
    }

    /** Requests at a steady rate, each of which has its first token and its end some time later. */
    private final class Load {

      private record Due(long nanos, Assignment assignment, boolean last) {}

      private final List<Router> all;
      private final Random random = new Random(1);
      private final PriorityQueue<Due> due =
          new PriorityQueue<>((one, other) -> Long.compare(one.nanos, other.nanos));
      private long requests;

      Load(List<Router> all) {
        this.all = all;
      }

      void run(int seconds) {
        long begin = System.nanoTime();
        long end = begin + TimeUnit.SECONDS.toNanos(seconds);
        long gap = TimeUnit.SECONDS.toNanos(1) / rate;
        for (long next = begin; next < end; next += gap) {
          while (System.nanoTime() < next) {
            answer();
            LockSupport.parkNanos(Math.max(1, Math.min(next - System.nanoTime(), 500_000)));
          }
          answer();
          ask();
        }
      }

      private void answer() {
        long now = System.nanoTime();
        while (!due.isEmpty() && due.element().nanos <= now) {
          Due next = due.remove();
          if (next.last) {
            next.assignment.finished(Outcome.COMPLETED);
          } else {
            next.assignment.answered();
            next.assignment.firstToken();
          }
        }
      }

      private void ask() {
        long family = random.nextInt(FAMILIES);
        long own = random.nextLong();
        long[] hashes =
            IntStream.range(0, promptBlocks)
                .mapToLong(i -> i < promptBlocks / 2 ? family << 32 | i : own + i)
                .toArray();
        PreparedRequest request =
            new PreparedRequest(
                "bench",
                Prompt.ofBlocks(BlockChain.ofLocalHashes(space, hashes)),
                null,
                true,
                0,
                0,
                null);
        Router router = all.get(random.nextInt(all.size()));
        DispatchResult result = router.dispatcher.assign(request, Set.of());
        if (result instanceof Assignment assignment) {
          requests++;
          long now = System.nanoTime();
          due.add(new Due(now + FIRST_TOKEN_NANOS, assignment, false));
          due.add(new Due(now + ANSWER_NANOS, assignment, true));
        }
      }
    }
  }
}
