package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.study.CellsJson;
import dev.warmpath.simulator.study.StudyComparison;
import dev.warmpath.simulator.terminal.ShareText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath simulate compare}: two results side by side.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "compare",
    description = {
      "Divides the figures of B by those of A, cell by cell. A star marks those whose 95 %%",
      "confidence intervals do not overlap; with one seed, all that differ."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Example:",
      "  warmpath simulate compare before/cells.json after/cells.json --fail-above 5%%"
    })
final class CompareCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "A", description = "The cells.json of a study.")
  private Path before = Path.of("");

  @Parameters(index = "1", paramLabel = "B", description = "That of another one.")
  private Path after = Path.of("");

  @Option(
      names = "--fail-above",
      paramLabel = "SHARE",
      description = {
        "End with 1 if the mean TTFT of a cell got worse by more than this share, such as 5%%,",
        "and the confidence intervals do not overlap."
      })
  private @Nullable String failAbove;

  @Override
  public Integer call() {
    double most =
        failAbove == null ? Double.POSITIVE_INFINITY : ShareText.share("--fail-above", failAbove);
    StudyComparison comparison = comparison();
    PrintWriter out = spec.commandLine().getOut();
    out.print(comparison.table());
    out.flush();
    PrintWriter err = spec.commandLine().getErr();
    if (comparison.onlyInOne() > 0) {
      err.println(comparison.onlyInOne() + " cells are only in one of the two");
    }
    List<StudyComparison.Pair> worse = comparison.worse(most);
    for (StudyComparison.Pair pair : worse) {
      err.println(
          "worse: " + pair.before().cell().contender() + ", " + pair.before().cell().setting());
    }
    err.flush();
    return worse.isEmpty() ? Exit.OK : Exit.FAILED;
  }

  private StudyComparison comparison() {
    try {
      StudyComparison comparison =
          StudyComparison.of(CellsJson.read(before), CellsJson.read(after));
      if (comparison.pairs().isEmpty()) {
        throw CommandException.failed(before + " and " + after + " have no cell in common");
      }
      return comparison;
    } catch (IOException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }
}
