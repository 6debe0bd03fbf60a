package dev.warmpath.lab.gateway;

import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.bench.ServedRouter;
import dev.warmpath.lab.gateway.Gateway.PeerAddress;
import dev.warmpath.lab.gateway.GatewayBench.GatewayPlan;
import dev.warmpath.lab.gateway.GatewayBench.GatewaySetup;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
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

  @Mixin private BenchOutput.WithLogs output = new BenchOutput.WithLogs();

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

  @Mixin private ServedRouter.RouterFlags router = new ServedRouter.RouterFlags();

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
    List<String> flags = new ArrayList<>(router.serveFlags());
    flags.addAll(serveFlags);
    try {
      return new GatewaySetup(
          ports.isEmpty() ? List.of(0, 0) : ports,
          peers.stream().map(PeerAddress::parse).toList(),
          router.tokenizer(),
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

  /**
   * The flags that say what is measured, and for how long.
   *
   * <p>Confined to the main thread.
   */
  static final class PlanFlags {

    private static final String NONE = "none";
    private static final GatewayPlan USUAL =
        new GatewayPlan(GatewayCell.all(), 3, 20, 3, 15, List.of(0, 60, 180, 600), 10, 20);
    private static final GatewayPlan SHORT =
        new GatewayPlan(GatewayCell.all().subList(0, 3), 1, 0.5, 0.5, 1, List.of(0, 1), 0, 1);

    @Option(
        names = "--cells",
        split = ",",
        paramLabel = "CELL",
        description = {
          "SIZE-SHAPE of 2k, 16k, 400k and plain, sse-paced, sse-burst; or none. All by default.",
        })
    private List<String> cells = new ArrayList<>();

    @Option(
        names = "--rate",
        paramLabel = "CELL=N",
        description = "Requests a second in a cell; may be repeated.")
    private Map<String, Double> rates = new LinkedHashMap<>();

    @Option(names = "--rounds", description = "Turns of each gateway in each cell (3).")
    private @Nullable Integer rounds;

    @Option(names = "--seconds", description = "Measured part of a turn (15).")
    private @Nullable Double measured;

    @Option(names = "--lead-in", paramLabel = "SECONDS", description = "Load before it (3).")
    private @Nullable Double leadIn;

    @Option(
        names = "--warm-up",
        paramLabel = "SECONDS",
        description = "Of 1,000 plain chats a second through each gateway before all rounds (20).")
    private @Nullable Double warmUp;

    @Option(
        names = "--states",
        split = ",",
        paramLabel = "SECONDS",
        description = {
          "Seconds of load (of the first cell) after which a router that has just started is",
          "measured for ten seconds (0,60,180,600), and the peers; or none."
        })
    private List<String> states = new ArrayList<>();

    @Option(
        names = "--cold",
        paramLabel = "SECONDS",
        description = "Load on a router that has just started (10); 0: none.")
    private @Nullable Double cold;

    @Option(
        names = "--idle",
        paramLabel = "SECONDS",
        description = "Of a router without requests (20); 0: none.")
    private @Nullable Double idle;

    @Option(
        names = "--short",
        description = "One round of a second in the cells of 2k, for a look whether all works.")
    private boolean brief;

    GatewayPlan plan() {
      GatewayPlan usual = brief ? SHORT : USUAL;
      try {
        return new GatewayPlan(
            cells(usual.cells()),
            or(rounds, usual.rounds()),
            or(warmUp, usual.warmUp()),
            or(leadIn, usual.leadIn()),
            or(measured, usual.measured()),
            states.isEmpty() ? usual.states() : states(),
            or(cold, usual.cold()),
            or(idle, usual.idle()));
      } catch (IllegalArgumentException e) {
        throw CommandException.usage(String.valueOf(e.getMessage()));
      }
    }

    private List<Integer> states() {
      try {
        return states.equals(List.of(NONE))
            ? List.of()
            : states.stream().map(Integer::valueOf).toList();
      } catch (NumberFormatException e) {
        throw CommandException.usage("--states " + states + " are not seconds");
      }
    }

    private List<GatewayCell> cells(List<GatewayCell> usual) {
      Map<String, GatewayCell> known =
          GatewayCell.all().stream()
              .collect(
                  Collectors.toMap(
                      GatewayCell::name, cell -> cell, (a, b) -> a, LinkedHashMap::new));
      for (Map.Entry<String, Double> rate : rates.entrySet()) {
        known.put(rate.getKey(), named(known, rate.getKey()).at(rate.getValue()));
      }
      if (cells.equals(List.of(NONE))) {
        return List.of();
      }
      List<String> names = cells.isEmpty() ? usual.stream().map(GatewayCell::name).toList() : cells;
      return names.stream().distinct().map(name -> named(known, name)).toList();
    }

    private static GatewayCell named(Map<String, GatewayCell> known, String name) {
      GatewayCell cell = known.get(name);
      if (cell == null) {
        throw CommandException.usage("no cell '%s'; there are %s".formatted(name, known.keySet()));
      }
      return cell;
    }

    private static <T> T or(@Nullable T given, T usual) {
      return given == null ? usual : given;
    }
  }
}
