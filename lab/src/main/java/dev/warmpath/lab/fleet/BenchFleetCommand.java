package dev.warmpath.lab.fleet;

import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.fleet.BenchRouter.PeerRouter;
import dev.warmpath.lab.fleet.BenchRouter.PolicyRouter;
import dev.warmpath.lab.fleet.FleetBench.FleetBenchPlan;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench fleet}: real routers before the same simulated engines and the same chats.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "fleet",
    description = {
      "Gives each router the same chat sessions in front of simulated engines that have just been",
      "started, all of them processes of their own. Hit rates are the engines' own count, times",
      "the client's. Ends with 1 when a router did not come up or ours failed a request.",
      "WARMPATH_JAVA_OPTS holds for our router, not for the engines and the load."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath bench fleet --short",
      "  warmpath bench fleet --policies warm,least-requests --blocks 1500 --rate 7 --seconds 45 --json",
      "  warmpath bench fleet --router 'other=http://127.0.0.1:31001@other --listen 31001 \\",
      "    --worker-urls $(seq -s \" \" -f http://127.0.0.1:%%g 18101 18104)'"
    })
public final class BenchFleetCommand implements WarmpathCommand {

  private static final List<String> NONE = List.of("none");

  @Mixin private FleetFlags fleetFlags = new FleetFlags();

  @Mixin private BenchOutput.WithLogs output = new BenchOutput.WithLogs();

  @Option(
      names = "--policies",
      split = ",",
      paramLabel = "POLICY",
      defaultValue = "warm,round-robin",
      description = "Our router runs under each of these (${DEFAULT-VALUE}); none: not at all.")
  private List<String> policies = new ArrayList<>();

  @Option(
      names = "--router",
      paramLabel = "NAME=URL[@COMMAND]",
      description =
          "Another router, set up for the engines' ports; may be repeated. The command is run by a"
              + " shell before each turn and its process group ended after it. Without one the"
              + " router is used as it is, and keeps what it has learned.")
  private List<String> peers = new ArrayList<>();

  @Option(
      names = "--engine-port",
      paramLabel = "PORT",
      defaultValue = "18101",
      description =
          "HTTP port of the first engine (${DEFAULT-VALUE}), the others follow; events 100 above,"
              + " replay 200 above. 0: any ports, for our own router only.")
  private int enginePort;

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<String> ours = policies.equals(NONE) ? List.of() : policies;
    FleetBenchReport report = run(bench(ours));
    output.report(report::print, report.json());
    return report.isFlawless(Set.copyOf(ours)) ? Exit.OK : Exit.FAILED;
  }

  private FleetBench bench(List<String> ours) throws IOException {
    try {
      FleetBenchPlan plan = fleetFlags.plan();
      List<BenchRouter> routers = new ArrayList<>();
      ours.forEach(policy -> routers.add(new PolicyRouter(policy)));
      peers.forEach(peer -> routers.add(PeerRouter.parse(peer)));
      FleetBench.FleetSetup setup =
          new FleetBench.FleetSetup(routers, enginePort, output.directory("warmpath-fleet"));
      return new FleetBench(plan, setup, output::progress);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private static FleetBenchReport run(FleetBench bench) throws InterruptedException {
    try {
      return bench.run();
    } catch (IOException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }

  /**
   * The flags that describe fleet and load.
   *
   * <p>Confined to the main thread.
   */
  static final class FleetFlags {

    private static final FleetBenchPlan USUAL =
        new FleetBenchPlan(4, 3_000, 16, 1, 3, 70, 3, 3, 0, List.of(1L, 2L, 3L, 4L));
    private static final FleetBenchPlan SHORT =
        new FleetBenchPlan(2, 1_500, 16, 1, 3, 5, 0.2, 0, 0, List.of(1L));

    @Option(names = "--engines", description = "Simulated engines (4).")
    private @Nullable Integer engines;

    @Option(names = "--blocks", description = "Blocks of each engine's KV cache (3000).")
    private @Nullable Integer blocks;

    @Option(names = "--block-size", paramLabel = "TOKENS", description = "Tokens a block (16).")
    private @Nullable Integer blockSizeTokens;

    @Option(
        names = "--speed",
        description =
            "How many times faster the engines are than a 70B-like model on four H100 (1).")
    private @Nullable Double speed;

    @Option(
        names = "--rate",
        paramLabel = "SESSIONS",
        description = "Chat sessions that arrive a second (3).")
    private @Nullable Double sessionsPerSecond;

    @Option(names = "--seconds", description = "Seconds in which sessions arrive (70).")
    private @Nullable Double seconds;

    @Option(
        names = "--warm-up",
        paramLabel = "SECONDS",
        description =
            "Seconds in which other sessions arrive before each measured load, for instance until"
                + " routers are compiled (0).")
    private @Nullable Double warmUpSeconds;

    @Option(
        names = "--seeds",
        split = ",",
        paramLabel = "SEED",
        description = "One round of turns for each (1,2,3,4).")
    private List<Long> seeds = new ArrayList<>();

    @Option(
        names = "--short",
        description =
            "Two engines, one seed, sessions of 5 seconds whose users hardly think, for a look"
                + " whether all works.")
    private boolean brief;

    FleetBenchPlan plan() {
      FleetBenchPlan usual = brief ? SHORT : USUAL;
      return new FleetBenchPlan(
          or(engines, usual.engines()),
          or(blocks, usual.blocks()),
          or(blockSizeTokens, usual.blockSizeTokens()),
          or(speed, usual.speed()),
          or(sessionsPerSecond, usual.sessionsPerSecond()),
          or(seconds, usual.seconds()),
          usual.thinkSeconds(),
          usual.settleSeconds(),
          or(warmUpSeconds, usual.warmUpSeconds()),
          seeds.isEmpty() ? usual.seeds() : seeds);
    }

    private static <T> T or(@Nullable T given, T usual) {
      return given == null ? usual : given;
    }
  }
}
