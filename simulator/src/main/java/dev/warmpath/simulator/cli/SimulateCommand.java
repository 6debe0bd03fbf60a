package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.router.routing.policy.Policies;
import dev.warmpath.simulator.cli.simulate.FitCommand;
import dev.warmpath.simulator.cli.simulate.PlanCommand;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.study.CellFigures;
import dev.warmpath.simulator.study.Study;
import dev.warmpath.simulator.study.StudyTable;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceException;
import dev.warmpath.simulator.trace.TraceFile;
import dev.warmpath.simulator.trace.TraceFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Compares policies on a virtual fleet.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "simulate",
    description = {
      "Plays a recorded workload to a fleet of simulated engines in virtual time, once for each",
      "policy, and compares what the clients would have seen."
    },
    mixinStandardHelpOptions = true,
    subcommands = {FitCommand.class, PlanCommand.class},
    footer = {
      "",
      "Examples:",
      "  warmpath simulate --trace conversation_trace.jsonl.gz --format mooncake --replicas 8",
      "  warmpath simulate --trace log.jsonl --format session --policies warm,round-robin --load 0.7"
    })
public final class SimulateCommand implements WarmpathCommand {

  /* What must be given is checked here: a subcommand needs none of it. */

  @Option(names = "--trace", paramLabel = "FILE", description = "The workload; must be given.")
  private @Nullable Path file;

  @Option(
      names = "--format",
      description =
          "Its format, must be given: mooncake, bailian, delta, azure, session or decisions.")
  private String format = "";

  @Option(
      names = "--policies",
      split = ",",
      defaultValue = "warm,least-requests,round-robin",
      description = "Policies by name, or all (${DEFAULT-VALUE}).")
  private List<String> policies = List.of();

  @Option(
      names = "--replicas",
      split = ",",
      defaultValue = "8",
      description = "Engines (${DEFAULT-VALUE}).")
  private List<Integer> replicas = List.of();

  @Option(
      names = "--kv-tokens",
      split = ",",
      defaultValue = "2000000",
      description = "Tokens that an engine's cache holds (${DEFAULT-VALUE}).")
  private List<Long> kvTokens = List.of();

  @Option(
      names = "--rate",
      split = ",",
      description = "How many times as fast as recorded requests arrive (1).")
  private List<Double> rates = new ArrayList<>();

  @Option(
      names = "--load",
      split = ",",
      description = "Instead: as a share of the load at which waiting times rise.")
  private List<Double> loads = new ArrayList<>();

  @Option(
      names = "--index",
      split = ",",
      defaultValue = "exact",
      description =
          "What the router knows: exact, delayed:MS, approx[:SECONDS] (${DEFAULT-VALUE}).")
  private List<String> indexes = List.of();

  @Option(
      names = "--copies",
      defaultValue = "0",
      description = "Clients that play the trace side by side; 0: one for each eight replicas.")
  private int copies;

  @Option(
      names = "--seeds",
      defaultValue = "1",
      description = "Runs of each combination (${DEFAULT-VALUE}).")
  private int seeds;

  @Option(
      names = "--requests",
      defaultValue = "2147483647",
      description = "Lines of the trace that are read at most.")
  private int requests;

  @Override
  public Integer call() throws InterruptedException {
    if (file == null) {
      throw CommandException.usage("--trace: must be given");
    }
    try {
      TraceFormat known =
          TraceFormat.named(format)
              .orElseThrow(() ->
                  CommandException.usage(
                      "--format: '%s', must be one of %s"
                          .formatted(format, String.join(", ", TraceFormat.labels()))));
      Trace trace = TraceFile.read(file, known, requests);
      List<CellFigures> cells =
          new Study(trace, grid()).run((done, all) -> System.err.print("\r" + done + "/" + all));
      System.err.println();
      System.out.print(StudyTable.of(cells));
      return Exit.OK;
    } catch (IOException | TraceException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }

  private Study.Grid grid() {
    boolean ofKnee = !loads.isEmpty();
    return new Study.Grid(
        policies.equals(List.of("all")) ? Policies.names() : policies,
        replicas,
        kvTokens,
        ofKnee ? loads : rates.isEmpty() ? List.of(1.0) : rates,
        ofKnee,
        indexes.stream().map(IndexMode::parse).toList(),
        copies,
        seeds,
        Runtime.getRuntime().availableProcessors());
  }
}
