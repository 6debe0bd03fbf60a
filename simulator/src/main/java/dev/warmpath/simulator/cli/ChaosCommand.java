package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.chaos.ChaosPlan;
import dev.warmpath.simulator.chaos.ChaosReport;
import dev.warmpath.simulator.chaos.ChaosRun;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code warmpath chaos}: a router between engines and clients that misbehave.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "chaos",
    description = {
      "Starts simulated engines and the router in this process, lets engines and clients fail in",
      "every way and in overload, and checks each answer. Ends with 1 if a request hung, an answer",
      "was wrong, anything leaked, or an engine did not come back."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath chaos",
      "  warmpath chaos --minutes 30 --seed 7",
      "  warmpath chaos --seconds 20 --json"
    })
public final class ChaosCommand implements WarmpathCommand {

  @Option(names = "--minutes", defaultValue = "0", description = "Minutes of load.")
  private int minutes;

  @Option(
      names = "--seconds",
      defaultValue = "0",
      description = "Seconds of load, added to the minutes; a minute if both are 0.")
  private int seconds;

  @Option(
      names = "--seed",
      defaultValue = "1",
      description = "The same seed gives the same faults and clients (${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--json", description = "Print one JSON object; everything else to stderr.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    try {
      ChaosReport report = new ChaosRun(plan(), System.err::println).run();
      (json ? System.err : System.out).print(report.table());
      if (json) {
        System.out.println(report.json());
      }
      System.out.flush();
      return report.passed() ? Exit.OK : Exit.FAILED;
    } catch (IOException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }

  private ChaosPlan plan() {
    long all = 60L * minutes + seconds;
    try {
      return new ChaosPlan((int) Math.min(all == 0 ? 60 : all, Integer.MAX_VALUE), seed);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }
}
