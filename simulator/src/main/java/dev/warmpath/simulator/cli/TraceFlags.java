package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceException;
import dev.warmpath.simulator.trace.TraceFile;
import dev.warmpath.simulator.trace.TraceFormat;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The flags that say which workload is played.
 *
 * <p>Confined to the main thread.
 */
final class TraceFlags {

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "The workload; .gz files are unpacked. Required.")
  private @Nullable Path file;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description = {
        "Its format: mooncake, bailian, delta, azure, session, decisions, capture, or generate for",
        "chats made by chance. Required."
      })
  private @Nullable String format;

  @Option(
      names = "--requests",
      paramLabel = "LINES",
      description = "Lines of the workload, or requests of a capture, that are read at most.")
  private int lines = Integer.MAX_VALUE;

  /** Reads the workload. */
  public Trace read() {
    if (file == null || format == null) {
      throw CommandException.usage(
          (file == null ? "--trace" : "--format") + " is missing; try: warmpath simulate --help");
    }
    if (lines < 1) {
      throw CommandException.usage("--requests " + lines + ": must be at least 1");
    }
    String label = format;
    TraceFormat known =
        TraceFormat.named(label)
            .orElseThrow(() ->
                CommandException.usage(
                    "--format %s: must be one of %s"
                        .formatted(label, String.join(", ", TraceFormat.labels()))));
    try {
      return TraceFile.read(file, known, lines);
    } catch (IOException | TraceException e) {
      throw CommandException.failed("--trace: " + e.getMessage());
    }
  }
}
