package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.capture.CaptureCut;
import dev.warmpath.simulator.terminal.DurationText;
import dev.warmpath.simulator.terminal.ProgressFlag;
import dev.warmpath.simulator.terminal.ReadingProgress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath replay cut}: takes a part out of a capture.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "cut",
    description = "Writes a part of a capture to a new file: some time of it, some of its streams.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Example: warmpath replay cut a.wpc.gz part.wpc.gz --from 30s --to 90s --stream 0"
    })
final class CutCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @SuppressWarnings("NullAway.Init")
  @Parameters(index = "0", paramLabel = "FILE", description = "The capture file.")
  private Path file;

  @SuppressWarnings("NullAway.Init")
  @Parameters(index = "1", paramLabel = "OUT", description = "The file to create.")
  private Path out;

  @Option(
      names = "--from",
      paramLabel = "TIME",
      converter = DurationText.class,
      description = "Leave out what was seen before, such as 30s.")
  private Duration from = Duration.ZERO;

  @Option(
      names = "--to",
      paramLabel = "TIME",
      converter = DurationText.class,
      description = "Leave out what was seen from here on. Default: the end.")
  private @Nullable Duration to;

  @Option(
      names = "--stream",
      paramLabel = "ID",
      description = "Keep this stream; may be given several times. Default: all.")
  private List<Integer> streams = List.of();

  @Mixin private final ProgressFlag progress = new ProgressFlag();

  @Override
  public Integer call() {
    double end = to == null ? Double.POSITIVE_INFINITY : to.toNanos() / 1e9;
    double begin = from.toNanos() / 1e9;
    if (begin > end) {
      throw CommandException.usage("--from is behind --to");
    }
    CaptureCut cut = new CaptureCut(begin, end, Set.copyOf(streams));
    spec.commandLine().getOut().println("kept " + write(cut) + " records in " + out);
    return Exit.OK;
  }

  private long write(CaptureCut cut) {
    try (ReadingProgress reading = progress.of(List.of(file), 1)) {
      return cut.write(file, out, reading);
    } catch (IOException e) {
      throw CaptureFiles.failure(file, e);
    }
  }
}
