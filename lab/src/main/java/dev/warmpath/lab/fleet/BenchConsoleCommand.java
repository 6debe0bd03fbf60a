package dev.warmpath.lab.fleet;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.fleet.ConsoleBench.Figures;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
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

  @Mixin private BenchOutput output = new BenchOutput();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (engines < 1 || engines > 1_000 || rounds < 1 || seconds < 1) {
      throw CommandException.usage("1 to 1000 engines, at least one round and one second");
    }
    Figures figures =
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

  private ObjectNode toJson(Figures figures) {
    ObjectNode root = new ObjectMapper().createObjectNode().put("engines", engines);
    figures.idle().forEach(root.putArray("idleMillisPerSecond")::add);
    figures.viewed().forEach(root.putArray("viewedMillisPerSecond")::add);
    return root;
  }
}
