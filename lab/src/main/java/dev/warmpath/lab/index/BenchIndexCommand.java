package dev.warmpath.lab.index;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.index.Corpus.CorpusSource;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.trace.TraceException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench index}: measures an index on a corpus of events and queries.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "index",
    description = {
      "Replays a corpus into an index and checks every answer's sum against what a model of plain",
      "sets answers. Ends with 1 when a sum differs."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath bench index",
      "  warmpath bench index --cell B --engines 1024",
      "  warmpath bench index --corpus mooncake16.wpix --rounds 5 --json",
      "  warmpath bench index --cell B --engines 16 --trace conversation.jsonl.gz --write b.wpix"
    })
public final class BenchIndexCommand implements WarmpathCommand {

  private static final int ORPHANS_PER_ENGINE = 1 << 16;

  @Mixin private CorpusFlags flags = new CorpusFlags();

  @Option(
      names = "--write",
      paramLabel = "FILE.wpix",
      description = "Write the corpus to a file, print its exact sums, and end.")
  private @Nullable Path written;

  @Option(names = "--rounds", defaultValue = "5", description = "Rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description = "How long to warm the JVM up on other corpora (${DEFAULT-VALUE}).")
  private int warmUpSeconds;

  @Mixin private BenchOutput output = new BenchOutput();

  @Override
  public Integer call() throws InterruptedException {
    if (rounds < 1) {
      throw CommandException.usage("--rounds: must be at least 1");
    }
    CorpusSource source = flags.source();
    if (written != null) {
      return write(source, written);
    }
    Corpus corpus = read(source);
    BenchReport report = warmBench().run(corpus, rounds);
    output.report(report::print, report.json());
    return report.exact() ? Exit.OK : Exit.FAILED;
  }

  private Corpus read(CorpusSource source) {
    Corpus corpus = CorpusFlags.read(source);
    output.progress(
        "%s: %d events, %d queries".formatted(corpus.name(), corpus.events(), corpus.queries()));
    return corpus;
  }

  private IndexBench warmBench() throws InterruptedException {
    IndexBench bench =
        new IndexBench(
            () -> new RunKvIndex(IndexLimits.unbounded(ORPHANS_PER_ENGINE)),
            BenchIndexCommand::daemon,
            output::progress);
    output.progress("warming up for " + warmUpSeconds + " s on other corpora");
    bench.warmUp(
        Corpora.warmUp().stream().map(CorpusFlags::read).toList(),
        TimeUnit.SECONDS.toNanos(warmUpSeconds));
    return bench;
  }

  private int write(CorpusSource source, Path file) {
    if (!source.shape().equals(CorpusShape.SIMPLE)) {
      throw CommandException.usage("WPIX has no groups: " + source.name() + " cannot be written");
    }
    try (WpixFile.WpixWriter writer = WpixFile.WpixWriter.create(file)) {
      ExactAnswers answers = source.feed(writer);
      output.print(
          "%s: memberships %d, interleaved %s, final %s"
              .formatted(file, answers.memberships(), answers.interleaved(), answers.atEnd()));
      return Exit.OK;
    } catch (IOException e) {
      throw CorpusFlags.problem(source, e);
    }
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "warmpath-writer");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * The flags that choose a corpus.
   *
   * <p>Confined to the main thread.
   */
  static final class CorpusFlags {

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
    private Corpora.@Nullable SyntheticCell cell;

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
        description =
            "A Mooncake trace (*.jsonl, *.jsonl.gz) instead of the cell's synthetic chats.")
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
      return e instanceof WpixFile.WpixException
          ? CommandException.usage(String.valueOf(e.getMessage()))
          : CommandException.failed(source.name() + ": " + e.getMessage());
    }

    private Corpora.CellOptions options() {
      try {
        return new Corpora.CellOptions(engines, requests, trace);
      } catch (IllegalArgumentException e) {
        throw CommandException.usage("--" + e.getMessage());
      }
    }
  }
}
