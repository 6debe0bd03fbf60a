package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.util.List;
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
      "Two parts. The storm: simulated engines and the router in this process; engines and clients"
          + " fail in every way and in overload, and each answer is checked. The ordinary day: the"
          + " router in a process with a small heap, and what befalls it without a fault of its"
          + " own.",
      "Ends with 1 if a request hung, an answer was wrong or killed, anything leaked, an engine was"
          + " lost, or /health took longer than a second."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath chaos",
      "  warmpath chaos --minutes 30 --seed 7",
      "  warmpath chaos --seconds 20 --json",
      "  warmpath chaos --part day"
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

  @Option(
      names = "--part",
      split = ",",
      defaultValue = "storm,day",
      description = "What is run: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
  private List<Part> parts = List.of();

  @Option(names = "--json", description = "Print one JSON object; everything else to stderr.")
  private boolean json;

  private enum Part {
    storm,
    day
  }

  @Override
  public Integer call() throws InterruptedException {
    ObjectNode figures = JsonNodeFactory.instance.objectNode();
    boolean passed = true;
    try {
      if (parts.contains(Part.storm)) {
        ChaosReport report = new ChaosRun(plan(), ChaosCommand::tell).run();
        print(report.table());
        report.json(figures);
        passed = report.passed();
      }
      if (parts.contains(Part.day)) {
        DayReport report = ordinaryDay();
        print(report.table());
        report.json(figures.putObject("ordinaryDay"));
        passed &= report.passed();
      }
    } catch (IOException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
    if (json) {
      System.out.println(figures);
    }
    System.out.flush();
    return passed ? Exit.OK : Exit.FAILED;
  }

  private static DayReport ordinaryDay() throws IOException, InterruptedException {
    try (OrdinaryDay day = new OrdinaryDay(ChaosCommand::tell)) {
      return day.run();
    }
  }

  private static void tell(String finding) {
    System.err.println(finding);
  }

  private void print(String table) {
    (json ? System.err : System.out).print(table);
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
