package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.capture.CaptureMerge;
import dev.warmpath.simulator.terminal.ProgressFlag;
import dev.warmpath.simulator.terminal.ReadingProgress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath replay merge}: makes one capture of several.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "merge",
    description =
        "Writes several captures to a new file, by time; streams of a replica's rank become one.",
    mixinStandardHelpOptions = true,
    footer = {"", "Example: warmpath replay merge --out all.wpc.gz a.wpc.gz b.wpc.gz"})
final class MergeCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @SuppressWarnings("NullAway.Init")
  @Parameters(paramLabel = "FILE", arity = "1..*", description = "Capture files.")
  private List<Path> files;

  @SuppressWarnings("NullAway.Init")
  @Option(
      names = "--out",
      required = true,
      paramLabel = "FILE",
      description = "The file to create; compressed when its name ends in .gz.")
  private Path out;

  @Option(names = "--note", paramLabel = "TEXT", description = "What the capture shows.")
  private String note = "";

  @Mixin private final ProgressFlag progress = new ProgressFlag();

  @Override
  public Integer call() {
    spec.commandLine().getOut().println("wrote " + write() + " records to " + out);
    return Exit.OK;
  }

  private long write() {
    try (ReadingProgress reading = progress.of(files, 1)) {
      return CaptureMerge.write(files, out, note, reading);
    } catch (IOException e) {
      throw CaptureFiles.failure(out, e);
    }
  }
}
