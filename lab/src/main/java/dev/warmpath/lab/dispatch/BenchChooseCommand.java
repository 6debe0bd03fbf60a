package dev.warmpath.lab.dispatch;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.study.Spread;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench choose}: what it costs to choose an engine.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "choose",
    description = {
      "Growing chats take turns before made-up engines whose caches evict, in virtual time. Measured",
      "is the CPU time of a request: to choose an engine, and to learn from its end; and of both, to",
      "tell why tokens are not cached. Policies take turns; reading prompts and events is not counted."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath bench choose --engines 64 --json",
      "  warmpath bench choose --policies round-robin,warm --prompt-tokens 100000 --rounds 3"
    })
public final class BenchChooseCommand implements WarmpathCommand {

  @Option(
      names = "--policies",
      split = ",",
      paramLabel = "POLICY",
      defaultValue = "round-robin,conductor,llm-d-weighted,warm",
      description = "Policies; ratios are to the first (${DEFAULT-VALUE}).")
  private List<String> policies = List.of();

  @Option(names = "--engines", defaultValue = "64", description = "Engines (${DEFAULT-VALUE}).")
  private int engines;

  @Option(
      names = "--prompt-tokens",
      defaultValue = "8000",
      description = "Tokens of a chat's last turn (${DEFAULT-VALUE}).")
  private int promptTokens;

  @Option(
      names = "--cache-tokens",
      defaultValue = "100000",
      description = "Tokens that an engine's cache holds (${DEFAULT-VALUE}).")
  private int cacheTokens;

  @Option(
      names = "--requests",
      defaultValue = "20000",
      description = "Requests of a round (${DEFAULT-VALUE}).")
  private int requests;

  @Option(
      names = "--rounds",
      defaultValue = "5",
      description = "Rounds, after two that are not counted (${DEFAULT-VALUE}).")
  private int rounds;

  @Mixin private BenchOutput output = new BenchOutput();

  private record Row(String policy, List<ChoiceBench.Round> rounds) {

    Spread of(ToDoubleFunction<ChoiceBench.Round> figure) {
      return Spread.of(rounds.stream().mapToDouble(figure).toArray());
    }

    double totalMicros() {
      return of(round -> round.chooseMicros() + round.endMicros()).median();
    }
  }

  @Override
  public Integer call() {
    if (engines < 1
        || promptTokens < 1
        || cacheTokens < promptTokens
        || requests < 1
        || rounds < 1) {
      throw CommandException.usage(
          "engines, prompt tokens, requests and rounds from 1; a cache holds a prompt or more");
    }
    ChoiceBench bench = new ChoiceBench(engines, promptTokens, cacheTokens);
    List<ChoiceBench.Contestant> contestants = new ArrayList<>();
    List<Row> rows = new ArrayList<>();
    for (String policy : policies) {
      ChoiceBench.Contestant contestant = contestant(bench, policy);
      contestant.fill();
      contestants.add(contestant);
      rows.add(new Row(policy, new ArrayList<>()));
    }
    for (int round = -2; round < rounds; round++) {
      for (int i = 0; i < rows.size(); i++) {
        ChoiceBench.Round took = contestants.get(i).round(requests);
        if (round >= 0) {
          rows.get(i).rounds.add(took);
        }
      }
      output.progress(round < 0 ? "warming up" : "round " + (round + 1));
    }
    output.report(table -> print(table, rows), toJson(rows));
    return Exit.OK;
  }

  private static ChoiceBench.Contestant contestant(ChoiceBench bench, String policy) {
    try {
      return bench.contestant(policy);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private void print(PrintWriter table, List<Row> rows) {
    table.printf("%d engines, %d rounds of %d requests each%n", engines, rounds, requests);
    table.printf(
        "%-18s %24s %24s %20s %9s %8s%n",
        "µs CPU", "choose", "end", "causes of both", "to first", "cached");
    for (Row row : rows) {
      table.printf(
          "%-18s %24s %24s %20s %9.2f %8.3f%n",
          row.policy,
          shown(row.of(ChoiceBench.Round::chooseMicros)),
          shown(row.of(ChoiceBench.Round::endMicros)),
          shown(row.of(ChoiceBench.Round::causesMicros)),
          row.totalMicros() / rows.get(0).totalMicros(),
          row.of(ChoiceBench.Round::cachedShare).median());
    }
    table.flush();
  }

  private static String shown(Spread spread) {
    return "%.1f (%.1f to %.1f)".formatted(spread.median(), spread.min(), spread.max());
  }

  private ObjectNode toJson(List<Row> rows) {
    ObjectNode root = new ObjectMapper().createObjectNode();
    root.put("engines", engines).put("promptTokens", promptTokens).put("cacheTokens", cacheTokens);
    root.put("requests", requests).put("rounds", rounds);
    ArrayNode list = root.putArray("policies");
    for (Row row : rows) {
      ObjectNode to = list.addObject().put("policy", row.policy);
      row.of(ChoiceBench.Round::chooseMicros).put(to, "chooseMicros");
      row.of(ChoiceBench.Round::endMicros).put(to, "endMicros");
      row.of(ChoiceBench.Round::causesMicros).put(to, "causesMicros");
      to.put("ratio", row.totalMicros() / rows.get(0).totalMicros());
      to.put("cachedShare", row.of(ChoiceBench.Round::cachedShare).median());
    }
    return root;
  }
}
