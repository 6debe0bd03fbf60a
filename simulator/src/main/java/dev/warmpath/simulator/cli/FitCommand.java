package dev.warmpath.simulator.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.study.CostFit;
import dev.warmpath.simulator.study.CostModels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath simulate fit}: learns the engines' speed from a decision log.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "fit",
    description = {
      "Learns from a decision log how long an engine's steps take, and how far times follow from",
      "that. Needs streamed answers whose clients asked for usage."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath simulate fit decisions.jsonl",
      "  warmpath simulate fit decisions.jsonl --out cost.json"
    })
final class FitCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private LogFlags log = new LogFlags();

  @Option(
      names = "--step-tokens",
      defaultValue = "8192",
      description = "The engines' --max-num-batched-tokens (${DEFAULT-VALUE}).")
  private int stepTokens;

  @Option(names = "--out", paramLabel = "FILE", description = "Write what was learned, for --cost.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() {
    if (stepTokens < 1) {
      throw CommandException.usage("--step-tokens: must be at least 1");
    }
    CostFit fit = fit();
    ObjectNode found = json(fit);
    if (out != null) {
      write(out, found);
    }
    spec.commandLine()
        .getOut()
        .print(json ? found.toPrettyString() + System.lineSeparator() : text(fit));
    spec.commandLine().getOut().flush();
    return Exit.OK;
  }

  private CostFit fit() {
    try {
      return CostFit.of(log.read(), stepTokens);
    } catch (IllegalArgumentException e) {
      throw CommandException.failed(log.file() + ": " + e.getMessage());
    }
  }

  private static void write(Path file, ObjectNode found) {
    try {
      Files.writeString(file, found.toPrettyString() + "\n");
    } catch (IOException e) {
      throw CommandException.failed("--out: " + e);
    }
  }

  private static ObjectNode json(CostFit fit) {
    ObjectNode json = new ObjectMapper().createObjectNode();
    CostModels.addTo(json, fit.cost());
    return json.put("engines", fit.engines())
        .put("fitted", fit.fitted())
        .put("held_out", fit.heldOut())
        .put("ttft_error", fit.ttftError())
        .put("decode_error", fit.decodeError());
  }

  private static String text(CostFit fit) {
    return String.format(
        Locale.ROOT,
        """
        %,d requests of %d engines; errors are medians over %,d others
          each step                       %10.3f ms
          prompt token computed           %10.5f ms
          pair of it and a token before   %10.3g ms
          context token while decoding    %10.3g ms
          error of TTFT                   %10.1f %%
          error of decoding               %10.1f %%
        """,
        fit.fitted(),
        fit.engines(),
        fit.heldOut(),
        fit.cost().baseMillis(),
        fit.cost().prefillTokenMillis(),
        fit.cost().attentionMillis(),
        fit.cost().decodeContextMillis(),
        100 * fit.ttftError(),
        100 * fit.decodeError());
  }
}
