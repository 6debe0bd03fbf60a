package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.tokens.TokenizeBench.AgentTexts;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.cli.NamedTokenizer;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath bench tokenize}: measures requests on their way to tokens and block hashes.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "tokenize",
    description = {
      "Reads recorded calls, unknown prompts and growing chats, and reports the CPU time of each",
      "step beside that of encoding whole prompts. Ends with 1 when a token or hash differs."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  warmpath bench tokenize --workload agent_calls.jsonl.gz --json"})
public final class BenchTokenizeCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Option(
      names = "--tokenizer",
      paramLabel = "DIR",
      description = {
        "A model directory, a tokenizer.json or hf://ORGANISATION/NAME[@REVISION].",
        "Default: the embedded tokenizer."
      })
  private @Nullable String tokenizer;

  @SuppressWarnings("NullAway.Init")
  @Option(
      names = "--workload",
      required = true,
      paramLabel = "FILE",
      description = "Recorded calls with input and output, one JSON object a line (.jsonl[.gz]).")
  private Path workload;

  @Option(
      names = "--requests",
      defaultValue = "300",
      description = "Recorded calls that are read (${DEFAULT-VALUE}).")
  private int requests;

  @Option(
      names = "--warm-up",
      defaultValue = "600",
      description = "Turns of other chats before anything is measured (${DEFAULT-VALUE}).")
  private int warmUpTurns;

  @Option(
      names = "--turns",
      defaultValue = "40",
      description = "Turns of the growing chat that are measured (${DEFAULT-VALUE}).")
  private int turns;

  @Option(
      names = "--json",
      description = "Print one JSON object on the last line of the output; prose goes to stderr.")
  private boolean json;

  @Override
  public Integer call() {
    if (Math.min(Math.min(requests, warmUpTurns), turns) < 1) {
      throw CommandException.usage("all numbers must be at least 1");
    }
    PrintWriter err = spec.commandLine().getErr();
    ObjectNode report = measure(err);
    PrintWriter out = spec.commandLine().getOut();
    out.println(json ? report.toString() : report.toPrettyString());
    out.flush();
    int mismatches = report.findValues("mismatches").stream().mapToInt(node -> node.asInt()).sum();
    return mismatches == 0 ? Exit.OK : Exit.FAILED;
  }

  private ObjectNode measure(PrintWriter err) {
    TokenizeBench.Plan plan = new TokenizeBench.Plan(requests, warmUpTurns, turns, 20, 1_000);
    var threads = ManagementFactory.getThreadMXBean();
    try (TokenizeBench bench =
        new TokenizeBench(
            files(),
            AgentTexts.read(workload),
            plan,
            threads::getCurrentThreadCpuTime,
            line -> {
              err.println(line);
              err.flush();
            })) {
      ObjectNode report = new ObjectMapper().createObjectNode();
      report.put("tokenizer", tokenizer == null ? "embedded" : tokenizer);
      report.setAll(bench.run());
      return report;
    } catch (IOException e) {
      throw CommandException.failed("--workload " + workload + ": not readable: " + e);
    }
  }

  private ModelFiles files() {
    try {
      return tokenizer == null
          ? EmbeddedFiles.read()
          : ModelFiles.read(new NamedTokenizer(tokenizer).files());
    } catch (TokenizerLoadException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }
}
