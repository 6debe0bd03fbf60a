package dev.warmpath.lab.index;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.simulator.trace.TraceException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The flags that choose a corpus.
 *
 * <p>Confined to the main thread.
 */
final class CorpusFlags {

  @Option(
      names = "--corpus",
      paramLabel = "FILE.wpix",
      description = "A corpus in a file; a small synthetic one by default.")
  private @Nullable Path file;

  @Option(
      names = "--cell",
      description = {
        "A synthetic corpus: B a large fleet, C 16 million other memberships, D engines with",
        "their own hashes, E holes, F bursts of siblings, G hybrid engines."
      })
  private @Nullable SyntheticCell cell;

  @Option(
      names = "--engines",
      paramLabel = "N",
      description = "Engines of the cell (B: 128, else 16).")
  private @Nullable Integer engines;

  @Option(
      names = "--requests",
      paramLabel = "N",
      description = "Requests of the cell (B: 40000, else 12000).")
  private @Nullable Integer requests;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "A Mooncake trace (*.jsonl, *.jsonl.gz) instead of the cell's synthetic chats.")
  private @Nullable Path trace;

  /** The corpus that the flags ask for. */
  CorpusSource source() {
    boolean cellOnly = engines != null || requests != null || trace != null;
    if (cell == null && cellOnly) {
      throw CommandException.usage("--engines, --requests and --trace need --cell");
    }
    if (cell != null && file != null) {
      throw CommandException.usage("give --corpus or --cell, not both");
    }
    if (file != null) {
      return new WpixFile(file);
    }
    try {
      return cell == null ? Corpora.small() : Corpora.cell(cell, options());
    } catch (IOException | TraceException e) {
      throw CommandException.failed("--trace: " + e.getMessage());
    }
  }

  /** All of {@code source} in memory. */
  static Corpus read(CorpusSource source) {
    try {
      return Corpus.of(source);
    } catch (IOException e) {
      throw problem(source, e);
    }
  }

  /** One line that says what is wrong with a file of {@code source}. */
  static CommandException problem(CorpusSource source, IOException e) {
    if (e instanceof NoSuchFileException) {
      return CommandException.usage("no such file: " + e.getMessage());
    }
    return e instanceof WpixException
        ? CommandException.usage(String.valueOf(e.getMessage()))
        : CommandException.failed(source.name() + ": " + e.getMessage());
  }

  private CellOptions options() {
    try {
      return new CellOptions(engines, requests, trace);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage("--" + e.getMessage());
    }
  }
}
