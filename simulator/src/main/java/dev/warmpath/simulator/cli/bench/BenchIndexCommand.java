package dev.warmpath.simulator.cli.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.bench.beside.Beside;
import dev.warmpath.simulator.bench.beside.BesideRound;
import dev.warmpath.simulator.bench.beside.Comparison;
import dev.warmpath.simulator.bench.beside.Peer;
import dev.warmpath.simulator.bench.beside.PeerException;
import dev.warmpath.simulator.bench.corpus.Corpus;
import dev.warmpath.simulator.bench.corpus.CorpusSource;
import dev.warmpath.simulator.bench.corpus.ExactAnswers;
import dev.warmpath.simulator.bench.generate.Corpora;
import dev.warmpath.simulator.bench.index.BenchReport;
import dev.warmpath.simulator.bench.index.IndexBench;
import dev.warmpath.simulator.bench.wpix.WpixWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
      "  warmpath bench index --cell B --engines 1024",
      "  warmpath bench index --corpus mooncake16.wpix --rounds 5 --json",
      "  warmpath bench index --corpus mooncake16.wpix --beside peers --json",
      "  warmpath bench index --cell B --engines 16 --trace conversation.jsonl.gz --write b.wpix"
    })
public final class BenchIndexCommand implements WarmpathCommand {

  private static final int ORPHANS_PER_ENGINE = 1 << 16;

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private CorpusFlags flags = new CorpusFlags();

  @Option(
      names = "--write",
      paramLabel = "FILE.wpix",
      description = "Write the corpus to a file, print its exact sums, and end.")
  private @Nullable Path written;

  @Option(names = "--rounds", description = "Rounds (5; with --beside 3).")
  private @Nullable Integer rounds;

  @Option(
      names = "--beside",
      paramLabel = "PEERS_DIR",
      description = {
        "Take turns with the drivers of other indexes, PEERS_DIR/bin/{smgidx,crtc}[-ca], and print",
        "the ratios."
      })
  private @Nullable Path peersFolder;

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
    if (rounds != null && rounds < 1) {
      throw CommandException.usage("--rounds: must be at least 1");
    }
    CorpusSource source = flags.source();
    if (written != null) {
      return write(source, written);
    }
    try {
      return peersFolder == null ? alone(source) : beside(source, Peer.in(peersFolder));
    } catch (PeerException e) {
      throw CommandException.failed("--beside: " + e.getMessage());
    }
  }

  private int alone(CorpusSource source) throws InterruptedException {
    Corpus corpus = read(source);
    IndexBench bench = warmBench();
    return show(bench.run(corpus, rounds == null ? 5 : rounds), null);
  }

  private int beside(CorpusSource source, List<Peer> peers)
      throws PeerException, InterruptedException {
    try (CorpusFile file = CorpusFile.of(source, flags.file())) {
      Corpus corpus = read(source);
      IndexBench bench = warmBench();
      List<BesideRound> all =
          new Beside(bench, peers, this::say).run(corpus, file.path(), rounds == null ? 3 : rounds);
      BenchReport report = bench.report(corpus, all.stream().map(BesideRound::ours).toList());
      return show(report, new Comparison(report, peers, all));
    } catch (PeerException e) {
      throw e;
    } catch (IOException e) {
      throw CorpusFlags.problem(source, e);
    }
  }

  private int show(BenchReport report, @Nullable Comparison comparison) {
    PrintWriter prose = json ? spec.commandLine().getErr() : spec.commandLine().getOut();
    report.print(prose);
    ObjectNode object = report.json();
    if (comparison != null) {
      comparison.print(prose);
      object.set("beside", comparison.json());
    }
    if (json) {
      printLast(object.toString());
    }
    return report.exact() ? Exit.OK : Exit.FAILED;
  }

  private Corpus read(CorpusSource source) {
    Corpus corpus = CorpusFlags.read(source);
    say("%s: %d events, %d queries".formatted(corpus.name(), corpus.events(), corpus.queries()));
    return corpus;
  }

  private IndexBench warmBench() throws InterruptedException {
    IndexBench bench =
        new IndexBench(
            () -> new RunKvIndex(IndexLimits.unbounded(ORPHANS_PER_ENGINE)),
            BenchIndexCommand::daemon,
            this::say);
    say("warming up for " + warmUpSeconds + " s on other corpora");
    bench.warmUp(
        Corpora.warmUp().stream().map(CorpusFlags::read).toList(),
        TimeUnit.SECONDS.toNanos(warmUpSeconds));
    return bench;
  }

  private int write(CorpusSource source, Path file) {
    CorpusFile.requireSimple(source);
    try (WpixWriter writer = WpixWriter.create(file)) {
      ExactAnswers answers = source.feed(writer);
      printLast(
          "%s: memberships %d, interleaved %s, final %s"
              .formatted(file, answers.memberships(), answers.interleaved(), answers.atEnd()));
      return Exit.OK;
    } catch (IOException e) {
      throw CorpusFlags.problem(source, e);
    }
  }

  private void printLast(String line) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(line);
    out.flush();
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
