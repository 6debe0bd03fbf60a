package dev.warmpath.simulator.cli;

import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.capture.CaptureLines;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath replay inspect}: prints a capture, an event a line.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "inspect",
    description = {
      "Prints a capture, one line an event.",
      "Token ids and prompts are counted, not printed."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example: warmpath replay inspect --limit 20 vllm.wpc.gz"})
final class InspectCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @SuppressWarnings("NullAway.Init")
  @Parameters(paramLabel = "FILE", description = "The capture file.")
  private Path file;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Stop after N records; 0, the default, prints them all.",
      defaultValue = "0")
  private long limit;

  @Override
  public Integer call() {
    if (limit < 0) {
      throw CommandException.usage("--limit " + limit + ": must be at least 0");
    }
    try (CaptureReader reader = CaptureFiles.open(file)) {
      print(reader);
    } catch (IOException e) {
      throw CaptureFiles.failure(file, e);
    }
    return Exit.OK;
  }

  private void print(CaptureReader reader) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    CaptureLines lines = new CaptureLines(reader.header());
    lines.header().forEach(out::println);
    CaptureRecord record = reader.next();
    for (long printed = 0; record != null && (limit == 0 || printed < limit); printed++) {
      lines.of(record).forEach(out::println);
      record = reader.next();
    }
    out.flush();
    if (reader.truncated()) {
      spec.commandLine().getErr().println(file + ": ends inside a record; the rest is missing");
    }
  }
}
