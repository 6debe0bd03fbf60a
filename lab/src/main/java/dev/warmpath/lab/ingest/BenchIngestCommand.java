package dev.warmpath.lab.ingest;

import dev.warmpath.eventingest.Clocks;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.ingest.IngestBench.IngestReport;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench ingest}: measures events on their way from a socket into the index.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "ingest",
    description = {
      "Feeds the batches of simulated engines to the index, on one thread and over sockets of the",
      "loopback. Ends with 1 when the index does not hold what the engines hold."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  warmpath bench ingest --engines 128 --seconds 10 --json"})
public final class BenchIngestCommand implements WarmpathCommand {

  @Option(names = "--engines", defaultValue = "16", description = "Engines (${DEFAULT-VALUE}).")
  private int engines;

  @Option(
      names = "--seconds",
      defaultValue = "5",
      description = "How long each kind of pass is measured (${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--blocks",
      defaultValue = "2000000",
      description = "Event blocks of one pass (${DEFAULT-VALUE}).")
  private int blocks;

  @Option(
      names = "--rate",
      defaultValue = "0",
      description = {
        "Event blocks per second at which waits are timed; 0 for half of what the",
        "sockets took (${DEFAULT-VALUE})."
      })
  private int rate;

  @Option(
      names = "--filling",
      description = "The caches are filling up in all passes; else each block stored evicts one.")
  private boolean filling;

  @Mixin private BenchOutput output = new BenchOutput();

  @Override
  public Integer call() {
    if (Math.min(Math.min(engines, seconds), blocks) < 1) {
      throw CommandException.usage("all numbers must be at least 1");
    }
    if (rate < 0) {
      throw CommandException.usage("--rate must not be negative");
    }
    IngestBench.Plan plan =
        new IngestBench.Plan(engines, blocks, filling, TimeUnit.SECONDS.toNanos(seconds), rate);
    IngestReport report = new IngestBench(plan, Clocks.ofTheMachine(), output::progress).run();
    output.report(report::print, report.json());
    return report.exact() ? Exit.OK : Exit.FAILED;
  }
}
