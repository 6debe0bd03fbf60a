package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.nio.file.Files;
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
      "Three parts. The storm: simulated engines and the router in this process; engines and clients"
          + " fail in every way and in overload, and each answer is checked. The ordinary day: the"
          + " router in a process with a small heap, and what befalls it without a fault of its"
          + " own. The routers, with --routers N: N processes that tell each other what they do; one"
          + " is killed, one stands still, the network between them is cut.",
      "Ends with 1 if a request hung, an answer was wrong or killed, anything leaked, an engine was"
          + " lost, /health took longer than a second, or routers did not agree again in time."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath chaos",
      "  warmpath chaos --minutes 30 --seed 7",
      "  warmpath chaos --seconds 20 --json",
      "  warmpath chaos --part day",
      "  warmpath chaos --routers 3 --redis"
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
      description =
          "What is run: ${COMPLETION-CANDIDATES}; storm and day, or routers with --routers.")
  private List<Part> parts = List.of();

  @Option(
      names = "--routers",
      defaultValue = "0",
      description = "Routers of the part routers, 3 to 8; 3 if it is asked for without.")
  private int routers;

  @Option(
      names = "--redis",
      description = "Part routers: over a mesh, and then over a redis-server of this machine.")
  private boolean redis;

  @Option(names = "--brief", description = "Part routers: shorter stops and cuts.")
  private boolean brief;

  @Option(names = "--json", description = "Print one JSON object; everything else to stderr.")
  private boolean json;

  private enum Part {
    storm,
    day,
    routers
  }

  @Override
  public Integer call() throws InterruptedException {
    if (redis && !Files.isExecutable(ManyRouters.REDIS)) {
      throw CommandException.usage("--redis needs " + ManyRouters.REDIS);
    }
    ObjectNode figures = JsonNodeFactory.instance.objectNode();
    boolean passed = true;
    if (parts.isEmpty()) {
      parts = routers > 0 ? List.of(Part.routers) : List.of(Part.storm, Part.day);
    }
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
      if (parts.contains(Part.routers)) {
        passed &= manyRouters(false, figures.putObject("routersOverMesh"));
        passed &= !redis || manyRouters(true, figures.putObject("routersOverRedis"));
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

  private boolean manyRouters(boolean overRedis, ObjectNode figures)
      throws IOException, InterruptedException {
    try (ManyRouters many = new ManyRouters(form(), overRedis, ChaosCommand::tell)) {
      RoutersReport report = many.run();
      print(report.table());
      report.json(figures);
      return report.passed();
    }
  }

  private ManyRouters.Form form() {
    int number = routers == 0 ? 3 : routers;
    try {
      return brief ? ManyRouters.Form.brief(number) : ManyRouters.Form.whole(number);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
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
