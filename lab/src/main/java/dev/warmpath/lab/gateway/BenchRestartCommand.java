package dev.warmpath.lab.gateway;

import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench restart}: restarts routers under load.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "restart",
    description = {
      "Starts two stub replicas, two routers behind a TCP balancer, and asks for streams at fixed",
      "instants while one router after the other is ended by SIGTERM and replaced. Ends with 1 when",
      "a stream was lost."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  warmpath bench restart --rate 300 --seconds 120"})
public final class BenchRestartCommand implements WarmpathCommand {

  @Mixin private BenchOutput output = new BenchOutput();

  @Option(
      names = "--rate",
      defaultValue = "300",
      description = "Streams a second (${DEFAULT-VALUE}).")
  private double rate;

  @Option(names = "--seconds", defaultValue = "60", description = "Of load (${DEFAULT-VALUE}).")
  private double seconds;

  @Option(
      names = "--delay-ms",
      defaultValue = "1000",
      description =
          "The routers' shutdown.delay-ms (${DEFAULT-VALUE}); the balancer asks five times as"
              + " often whether they are ready.")
  private int delayMillis;

  @Option(
      names = "--tokenizer",
      paramLabel = "DIR",
      defaultValue = "embedded",
      description = "The routers' tokenizer (${DEFAULT-VALUE}).")
  private String tokenizer = "embedded";

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Handed to the routers; may be repeated.")
  private List<String> sets = new ArrayList<>();

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<String> flags = new ArrayList<>();
    sets.forEach(set -> flags.addAll(List.of("--set", set)));
    GatewaySetup setup =
        new GatewaySetup(
            List.of(0, 0), List.of(), tokenizer, flags, output.directory("warmpath-restart"));
    RestartReport report = run(setup);
    output.report(report::print, report.json());
    return report.isFlawless() ? Exit.OK : Exit.FAILED;
  }

  private RestartReport run(GatewaySetup setup) throws InterruptedException {
    try {
      RestartBench.Plan plan = new RestartBench.Plan(rate, seconds, delayMillis);
      return new RestartBench(plan, setup, output::progress).run();
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }
}
