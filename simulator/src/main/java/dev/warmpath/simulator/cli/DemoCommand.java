package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.demo.Demo;
import dev.warmpath.simulator.demo.Demo.DemoPlan;
import dev.warmpath.simulator.demo.DemoReport;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code warmpath demo}: simulated engines, the router, and the same chats under two policies.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "demo",
    description = {
      "Starts simulated engines and the router in this process and sends the same chats",
      "first round robin, then to where they are warm."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath demo",
      "  warmpath demo --requests 800 --replicas 6 --no-wait",
      "  warmpath demo --no-wait --json"
    })
public final class DemoCommand implements WarmpathCommand {

  @Option(
      names = "--requests",
      defaultValue = "400",
      description = "Requests for each policy (${DEFAULT-VALUE}).")
  private int requests;

  @Option(
      names = "--replicas",
      defaultValue = "4",
      description = "Simulated engines (${DEFAULT-VALUE}).")
  private int replicas;

  @Option(
      names = "--idle-ms",
      defaultValue = "60000",
      description = "Give up a request of which nothing came for so long (${DEFAULT-VALUE}).")
  private long idleMillis;

  @Option(names = "--json", description = "Print one JSON object; everything else to stderr.")
  private boolean json;

  @Option(names = "--no-wait", description = "End when the figures are there.")
  private boolean noWait;

  @Override
  @SuppressWarnings("SystemConsoleNull") // where it is never null, the bar moves in pipes too
  public Integer call() throws InterruptedException {
    boolean terminal = System.console() != null;
    Consumer<String> progress = line -> show(line, terminal);
    try (Demo demo = new Demo(plan(), idle(), !noWait, progress)) {
      DemoReport report = demo.run();
      (json ? System.err : System.out).print(report.table());
      if (json) {
        System.out.println(report.json());
      }
      System.out.flush();
      if (!noWait) {
        demo.keepServing();
        (json ? System.err : System.out).print(demo.invitation());
        new CountDownLatch(1).await();
      }
      return report.errors() == 0 ? Exit.OK : Exit.FAILED;
    }
  }

  /** Without a terminal only a full bar is shown. */
  private static void show(String line, boolean terminal) {
    if (terminal) {
      System.err.print(line);
    } else if (line.endsWith("\n")) {
      System.err.print(line.strip() + "\n");
    }
  }

  private DemoPlan plan() {
    try {
      return new DemoPlan(requests, replicas);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private Duration idle() {
    if (idleMillis < 1) {
      throw CommandException.usage("--idle-ms=" + idleMillis + " must be at least 1");
    }
    return Duration.ofMillis(idleMillis);
  }
}
