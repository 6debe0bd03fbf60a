package dev.warmpath.lab.dispatch;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.io.PrintWriter;
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
}
