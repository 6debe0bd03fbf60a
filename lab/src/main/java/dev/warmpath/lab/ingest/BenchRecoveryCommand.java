package dev.warmpath.lab.ingest;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench recovery}: kills a router and measures how soon it knows again what it
 * knew.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "recovery",
    description = {
      "Starts a router in a process of its own, tells it over real sockets what engines hold, kills",
      "it some time after a snapshot, and starts it again. Ends with 1 when the new one is credited",
      "with more than the engines hold."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  warmpath bench recovery --memberships 10000000 --json"})
public final class BenchRecoveryCommand implements WarmpathCommand {

  @Option(
      names = "--memberships",
      defaultValue = "10000000",
      description = "Blocks that the engines hold together (${DEFAULT-VALUE}).")
  private long memberships;

  @Option(names = "--engines", defaultValue = "16", description = "Engines (${DEFAULT-VALUE}).")
  private int engines;

  @Option(
      names = "--snapshot-ms",
      defaultValue = "5000",
      description = "Time between snapshots (${DEFAULT-VALUE}).")
  private int snapshotMillis;

  @Mixin private BenchOutput.WithLogs output = new BenchOutput.WithLogs();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (engines < 1 || engines > 1_000 || memberships < 1_000L * engines || snapshotMillis < 100) {
      throw CommandException.usage(
          "1 to 1000 engines, at least 1000 memberships for each, and 100 ms between snapshots");
    }
    Path directory = output.directory("warmpath-recovery");
    RecoveryBench.RecoveryReport report =
        new RecoveryBench(memberships, directory, snapshotMillis, output::progress).run(engines);
    output.report(table -> print(table, report), toJson(report));
    return report.overCredits() == 0 ? Exit.OK : Exit.FAILED;
  }

  private static void print(PrintWriter table, RecoveryBench.RecoveryReport report) {
    table.printf(
        "%.2f s until %.2f %% of %,d memberships are known again; %d of %d prompts over, %d under%n",
        report.secondsToReady(),
        100 * report.recoveredShare(),
        report.memberships(),
        report.overCredits(),
        report.checkedPrompts(),
        report.underCredits());
    table.printf(
        "snapshot of %,d bytes: events waited %.2f s, on the disk after %.2f s%n",
        report.snapshot().bytes(),
        report.snapshot().pauseSeconds(),
        report.snapshot().writeSeconds());
    table.flush();
  }

  private ObjectNode toJson(RecoveryBench.RecoveryReport report) {
    return new ObjectMapper()
        .createObjectNode()
        .put("memberships", report.memberships())
        .put("recoveredShare", report.recoveredShare())
        .put("secondsToReady", report.secondsToReady())
        .put("cpuSecondsToReady", report.cpuSecondsToReady())
        .put("engines", engines)
        .put("checkedPrompts", report.checkedPrompts())
        .put("overCredits", report.overCredits())
        .put("underCredits", report.underCredits())
        .put("snapshotBytes", report.snapshot().bytes())
        .put("snapshotPauseSeconds", report.snapshot().pauseSeconds())
        .put("snapshotWriteSeconds", report.snapshot().writeSeconds());
  }
}
