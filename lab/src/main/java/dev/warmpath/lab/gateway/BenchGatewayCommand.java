package dev.warmpath.lab.gateway;

import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench gateway}: measures what a request costs in the router, beside other
 * gateways.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "gateway",
    description = {
      "Starts two stub replicas and a router as processes of their own, and sends requests at",
      "fixed instants. CPU time is the system's, latency the load's. Gateways that run already",
      "take turns with the router. Ends with 1 when the router failed a request.",
      "WARMPATH_JAVA_OPTS holds for the router, not for the load."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath bench gateway --short",
      "  warmpath bench gateway --backends 18001,18002 --beside haproxy=http://127.0.0.1:31004 --json",
      "  warmpath bench gateway --cells 2k-plain --rate 2k-plain=1000 --set policy.name=round-robin"
    })
public final class BenchGatewayCommand implements WarmpathCommand {

  @Mixin private PlanFlags planFlags = new PlanFlags();

  @Mixin private BenchOutput output = new BenchOutput();

  @Option(
      names = "--beside",
      paramLabel = "NAME=URL[,pid=PID]",
      description =
          "A gateway in front of the stub replicas that runs already or will within a minute; may"
              + " be repeated. Its process is the one that listens on its port, or PID with all"
              + " its children.")
  private List<String> peers = new ArrayList<>();

  @Option(
      names = "--backends",
      split = ",",
      paramLabel = "PORT",
      description = "Ports of the stub replicas, so that peers can be set up; any two by default.")
  private List<Integer> ports = new ArrayList<>();

  @Option(
      names = "--tokenizer",
      paramLabel = "DIR",
      defaultValue = "embedded",
      description = "The router's tokenizer (${DEFAULT-VALUE}).")
  private String tokenizer = "embedded";

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Handed to the router; may be repeated.")
  private List<String> sets = new ArrayList<>();

  @Option(
      names = "--serve-flag",
      paramLabel = "FLAG",
      description = "Any flag of serve, such as --serve-flag=--policy=random; may be repeated.")
  private List<String> serveFlags = new ArrayList<>();

  @Override
  public Integer call() throws IOException, InterruptedException {
    GatewayReport report = run(setup(output.directory("warmpath-gateway")));
    output.report(report::print, report.json());
    return report.isFlawless() ? Exit.OK : Exit.FAILED;
  }

  private GatewaySetup setup(Path work) {
    List<String> flags = new ArrayList<>();
    sets.forEach(set -> flags.addAll(List.of("--set", set)));
    flags.addAll(serveFlags);
    try {
      return new GatewaySetup(
          ports.isEmpty() ? List.of(0, 0) : ports,
          peers.stream().map(PeerAddress::parse).toList(),
          tokenizer,
          flags,
          work);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private GatewayReport run(GatewaySetup setup) throws InterruptedException {
    try {
      return new GatewayBench(planFlags.plan(), setup, output::progress).run();
    } catch (IOException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }
}
