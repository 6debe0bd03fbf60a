package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.simulator.fleet.PolicySpec;
import dev.warmpath.simulator.study.CostModels;
import dev.warmpath.simulator.study.FleetSize;
import dev.warmpath.simulator.study.PlanReport;
import dev.warmpath.simulator.trace.DecisionLines;
import dev.warmpath.simulator.trace.LoggedRequest;
import dev.warmpath.simulator.trace.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath simulate plan}: finds how many replicas a log's traffic needs.
 *
 * <p>Confined to the main thread; policies are tried beside each other.
 */
@Command(
    name = "plan",
    description = {
      "Replays a decision log to virtual fleets and finds, for each policy, the smallest one whose",
      "90th percentile of the time to first token is within a goal."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath simulate plan decisions.jsonl --slo-ttft 1000 --cost cost.json",
      "  warmpath simulate plan decisions.jsonl --slo-ttft 500 --growth 3 --policies warm,sticky"
    })
final class PlanCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private LogFlags log = new LogFlags();

  @Option(
      names = "--slo-ttft",
      required = true,
      paramLabel = "MS",
      description = "The goal for the 90th percentile of the time to first token.")
  private double ttftMillis;

  @Option(
      names = "--cost",
      defaultValue = CostModels.H100X4,
      paramLabel = "COST",
      description = "Speed of a replica: h100x4, dynamo, or a file of fit (${DEFAULT-VALUE}).")
  private String cost = "";

  @Option(
      names = "--kv-tokens",
      defaultValue = "2000000",
      description = "Tokens that a replica's cache holds (${DEFAULT-VALUE}).")
  private long kvTokens;

  @Option(
      names = "--policies",
      split = ",",
      defaultValue = "warm,least-requests,round-robin",
      description = "Policies by name, or all (${DEFAULT-VALUE}).")
  private List<String> policies = List.of();

  @Option(
      names = "--growth",
      defaultValue = "1",
      description = "How many times as much traffic (${DEFAULT-VALUE}).")
  private double growth;

  @Option(
      names = "--max-replicas",
      defaultValue = "256",
      description = "Where the search ends (${DEFAULT-VALUE}).")
  private int mostReplicas;

  @Option(
      names = "--seeds",
      defaultValue = "1",
      description = "Runs of each fleet; their mean counts (${DEFAULT-VALUE}).")
  private int seeds;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    FleetSize.Goal goal = goal();
    List<String> names = policies.equals(List.of("all")) ? Policies.names() : policies;
    names.forEach(PlanCommand::check);
    List<LoggedRequest> requests = log.read();
    Trace trace = trace(requests);
    PlanReport report =
        PlanReport.of(trace, requests, goal, answers(new FleetSize(trace, goal), names));
    spec.commandLine()
        .getOut()
        .print(json ? report.json().toPrettyString() + System.lineSeparator() : report.text());
    spec.commandLine().getOut().flush();
    return report.answers().stream().allMatch(FleetSize.Answer::enough) ? Exit.OK : Exit.FAILED;
  }

  private FleetSize.Goal goal() {
    require(ttftMillis > 0, "--slo-ttft: must be above 0");
    require(growth > 0 && growth < 1e6, "--growth: must be above 0");
    require(kvTokens >= 128 && kvTokens <= 1L << 36, "--kv-tokens: must be in 128 … 2^36");
    require(mostReplicas >= 1, "--max-replicas: must be at least 1");
    require(seeds >= 1, "--seeds: must be at least 1");
    try {
      return new FleetSize.Goal(
          ttftMillis, growth, CostModels.named(cost), kvTokens, mostReplicas, seeds);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage("--cost: " + e.getMessage());
    }
  }

  private static void require(boolean holds, String message) {
    if (!holds) {
      throw CommandException.usage(message);
    }
  }

  private static void check(String policy) {
    try {
      PolicySpec.make(policy);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage("--policies: " + e.getMessage());
    }
  }

  private Trace trace(List<LoggedRequest> requests) {
    try {
      Trace trace = DecisionLines.trace(String.valueOf(log.file().getFileName()), requests);
      if (trace.requests() > 0) {
        return trace;
      }
    } catch (IllegalArgumentException e) {
      throw CommandException.failed(log.file() + ": " + e.getMessage());
    }
    throw CommandException.failed(log.file() + ": no request that an engine answered");
  }

  private static List<FleetSize.Answer> answers(FleetSize size, List<String> policies)
      throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
    try {
      List<Future<FleetSize.Answer>> searches = new ArrayList<>();
      for (String policy : policies) {
        searches.add(pool.submit(() -> size.of(policy)));
      }
      List<FleetSize.Answer> answers = new ArrayList<>();
      for (Future<FleetSize.Answer> search : searches) {
        answers.add(search.get());
      }
      return answers;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a run failed: " + e.getCause(), e);
    } finally {
      pool.shutdownNow();
    }
  }
}
