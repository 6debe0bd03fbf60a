package dev.warmpath.simulator.cli;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.bench.corpus.Corpus;
import dev.warmpath.simulator.bench.corpus.CorpusSource;
import dev.warmpath.simulator.bench.generate.Corpora;
import dev.warmpath.simulator.bench.index.BenchReport;
import dev.warmpath.simulator.bench.index.IndexBench;
import dev.warmpath.simulator.bench.index.IndexChoice;
import dev.warmpath.simulator.bench.wpix.WpixException;
import dev.warmpath.simulator.bench.wpix.WpixFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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
      "  warmpath bench index --corpus mooncake16.wpix --rounds 5 --json"
    })
public final class BenchIndexCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Option(
      names = "--corpus",
      paramLabel = "FILE.wpix",
      description = "The corpus; a small synthetic one by default.")
  private @Nullable Path file;

  @Option(
      names = "--index",
      defaultValue = "runs",
      description = "${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
  private IndexChoice index = IndexChoice.RUNS;

  @Option(names = "--rounds", defaultValue = "5", description = "Rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description = "How long to warm the JVM up on other corpora (${DEFAULT-VALUE}).")
  private int warmUpSeconds;

  @Option(
      names = "--json",
      description = "Print one JSON object on the last line of the output; prose goes to stderr.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    if (rounds < 1) {
      throw CommandException.usage("--rounds: must be at least 1");
    }
    Corpus corpus = read(source());
    IndexBench bench = new IndexBench(index, BenchIndexCommand::daemon, this::say);
    bench.warmUp(warmUp(), TimeUnit.SECONDS.toNanos(warmUpSeconds));
    BenchReport report = bench.run(corpus, rounds);
    report.print(json ? spec.commandLine().getErr() : spec.commandLine().getOut());
    if (json) {
      PrintWriter out = spec.commandLine().getOut();
      out.println(report.json());
      out.flush();
    }
    return report.exact() ? Exit.OK : Exit.FAILED;
  }

  private CorpusSource source() {
    return file == null ? Corpora.small() : new WpixFile(file);
  }

  private List<Corpus> warmUp() {
    say("warming up on other corpora");
    List<Corpus> corpora = new ArrayList<>();
    for (CorpusSource source : Corpora.warmUp()) {
      corpora.add(read(source));
    }
    return corpora;
  }

  private Corpus read(CorpusSource source) {
    try {
      return Corpus.of(source);
    } catch (NoSuchFileException e) {
      throw CommandException.usage("--corpus: no such file: " + e.getMessage());
    } catch (WpixException e) {
      throw CommandException.usage("--corpus: " + e.getMessage());
    } catch (IOException e) {
      throw CommandException.failed(source.name() + ": " + e);
    }
  }

  private void say(String line) {
    PrintWriter err = spec.commandLine().getErr();
    err.println(line);
    err.flush();
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "warmpath-writer");
    thread.setDaemon(true);
    return thread;
  }
}
