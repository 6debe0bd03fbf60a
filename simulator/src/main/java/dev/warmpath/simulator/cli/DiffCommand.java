package dev.warmpath.simulator.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.capture.CaptureDiff;
import dev.warmpath.simulator.capture.CaptureDiff.EngineDiff;
import dev.warmpath.simulator.terminal.ProgressFlag;
import dev.warmpath.simulator.terminal.ReadingProgress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath replay diff}: compares what two captures heard.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "diff",
    description = {
      "Compares the live messages of two captures, engine by engine, by number and bytes.",
      "Ends with 1 when they differ."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example: warmpath replay diff a.wpc.gz b.wpc.gz"})
final class DiffCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @SuppressWarnings("NullAway.Init")
  @Parameters(index = "0", paramLabel = "FILE", description = "A capture file.")
  private Path first;

  @SuppressWarnings("NullAway.Init")
  @Parameters(index = "1", paramLabel = "OTHER", description = "Another one.")
  private Path second;

  @Option(names = "--json", description = "Print one JSON object instead of text.")
  private boolean json;

  @Mixin private final ProgressFlag progress = new ProgressFlag();

  @Override
  public Integer call() throws JsonProcessingException {
    List<EngineDiff> diffs = diffs();
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(new ObjectMapper().writeValueAsString(Map.of("engines", diffs)));
    } else {
      diffs.forEach(diff -> out.println(line(diff)));
    }
    return diffs.stream().allMatch(EngineDiff::isSame) ? Exit.OK : Exit.FAILED;
  }

  private List<EngineDiff> diffs() {
    try (ReadingProgress reading = progress.of(List.of(first, second), 1)) {
      return CaptureDiff.of(first, second, reading);
    } catch (IOException e) {
      throw CaptureFiles.failure(first, e);
    }
  }

  private static String line(EngineDiff diff) {
    String counts =
        "%s: %d the same, %d only in the first, %d only in the second, %d different"
            .formatted(
                diff.engine(), diff.same(), diff.onlyFirst(), diff.onlySecond(), diff.different());
    return diff.isSame() ? counts : counts + "; first at message " + diff.firstDifference();
  }
}
