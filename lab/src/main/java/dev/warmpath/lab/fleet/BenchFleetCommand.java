package dev.warmpath.lab.fleet;

import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
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

  @Mixin private BenchOutput output = new BenchOutput();

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
    FleetReport report = run(bench(ours));
    output.report(report::print, report.json());
    return report.isFlawless(Set.copyOf(ours)) ? Exit.OK : Exit.FAILED;
  }

  private FleetBench bench(List<String> ours) throws IOException {
    try {
      FleetBenchPlan plan = fleetFlags.plan();
      List<BenchRouter> routers = new ArrayList<>();
      ours.forEach(policy -> routers.add(new PolicyRouter(policy)));
      peers.forEach(peer -> routers.add(PeerRouter.parse(peer)));
      FleetSetup setup = new FleetSetup(routers, enginePort, output.directory("warmpath-fleet"));
      return new FleetBench(plan, setup, output::progress);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private static FleetReport run(FleetBench bench) throws InterruptedException {
    try {
      return bench.run();
    } catch (IOException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }
}
