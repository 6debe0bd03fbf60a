package dev.warmpath.simulator.cli;

import dev.warmpath.router.Quiet;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.study.Cell;
import dev.warmpath.simulator.study.CellsCsv;
import dev.warmpath.simulator.study.CellsJson;
import dev.warmpath.simulator.study.HtmlPage;
import dev.warmpath.simulator.study.ReportCell;
import dev.warmpath.simulator.study.Study;
import dev.warmpath.simulator.study.StudyComparison;
import dev.warmpath.simulator.study.StudyReport;
import dev.warmpath.simulator.study.StudyTable;
import dev.warmpath.simulator.terminal.ProgressBar;
import dev.warmpath.simulator.terminal.ProgressFlag;
import dev.warmpath.simulator.terminal.ShareText;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceException;
import dev.warmpath.simulator.trace.TraceFile;
import dev.warmpath.simulator.trace.TraceFormat;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath simulate}: compares policies on a virtual fleet.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "simulate",
    description = {
      "Plays a recorded workload to a fleet of simulated engines in virtual time, once for each",
      "policy, and compares what the clients would have seen."
    },
    mixinStandardHelpOptions = true,
    subcommands = {SimulateCommand.CompareCommand.class, FitCommand.class, PlanCommand.class},
    footer = {
      "",
      "Examples:",
      "  warmpath simulate --trace conversation_trace.jsonl.gz --format mooncake --replicas 8",
      "  warmpath simulate --trace log.jsonl --format session --policies all --load 0.7,0.9 \\",
      "    --seeds 5 --out study",
      "  warmpath simulate --trace log.jsonl --format session --policies warm --routers 1,2,4,8",
      "  warmpath simulate --trace log.jsonl --format session --policies warm \\",
      "    --change none,leave:least-worth,leave:random,join:cold --change-at 600 --seeds 5",
      "  warmpath simulate compare before/cells.json after/cells.json --fail-above 5%%"
    })
public final class SimulateCommand implements WarmpathCommand {

  private static final double NANOS = 1e9;

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private final TraceFlags traceFlags = new TraceFlags();
  @Mixin private final StudyFlags studyFlags = new StudyFlags();
  @Mixin private final ProgressFlag progress = new ProgressFlag();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = {
        "Write cells.json, cells.csv and report.html there, and minutes-N.svg for each policy of a",
        "setting if there are changes."
      })
  private @Nullable Path out;

  @Option(
      names = "--json",
      description = "Print one JSON object on the last line of the output; the rest to stderr.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    Study.Runs runs = studyFlags.runs();
    Trace trace = traceFlags.read();
    Study study = study(trace, runs);
    makeFolder();
    StudyReport report = report(study, trace, runs);
    PrintWriter text = json ? spec.commandLine().getErr() : spec.commandLine().getOut();
    text.print(StudyTable.of(report.cells()));
    text.flush();
    write(report);
    if (json) {
      spec.commandLine().getOut().println(CellsJson.of(report));
      spec.commandLine().getOut().flush();
    }
    return Exit.OK;
  }

  private Study study(Trace trace, Study.Runs runs) {
    try {
      return new Study(trace, studyFlags.grid(trace.blockSizeTokens()), runs);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage("--copies: " + e.getMessage());
    }
  }

  private StudyReport report(Study study, Trace trace, Study.Runs runs) throws Exception {
    List<Cell> cells = cells(study);
    long requests = study.requests(cells);
    long began = System.nanoTime();
    List<ReportCell> figures;
    try (Shown shown = new Shown(progress.counting("simulate", requests))) {
      figures = Quiet.call(() -> study.run(cells, shown)).stream().map(ReportCell::of).toList();
    }
    double seconds = (System.nanoTime() - began) / NANOS;
    return new StudyReport(
        new StudyReport.Setup(
            typed(),
            trace.requests(),
            runs.copies(),
            runs.seeds(),
            runs.warmUp(),
            runs.changeSeconds(),
            studyFlags.cost()),
        figures,
        new StudyReport.Speed(
            requests,
            seconds,
            cells.stream().mapToInt(Cell::replicas).max().orElse(0),
            runs.threads(),
            Runtime.getRuntime().maxMemory() >> 20));
  }

  private List<Cell> cells(Study study) throws InterruptedException {
    List<Cell> cells;
    try (Shown shown = new Shown(progress.counting("knee", study.knees()))) {
      cells = study.cells(shown);
    } catch (IllegalArgumentException e) {
      throw CommandException.failed("--load: " + e.getMessage());
    }
    try {
      study.checkChange(cells);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage("--change-at: " + e.getMessage());
    }
    return cells;
  }

  /** The command as it can be typed again. */
  private String typed() {
    return spec.root().commandLine().getParseResult().originalArgs().stream()
        .map(arg -> arg.matches("[\\w./:=,+@%-]+") ? arg : "'" + arg.replace("'", "'\\''") + "'")
        .collect(Collectors.joining(" ", spec.root().name() + " ", ""));
  }

  /** Found out before the work, not after it. */
  private void makeFolder() {
    if (out != null) {
      try {
        Files.createDirectories(out);
      } catch (IOException e) {
        throw CommandException.failed("--out " + out + ": cannot be made: " + e);
      }
    }
  }

  private void write(StudyReport report) {
    if (out == null) {
      return;
    }
    try {
      Files.writeString(out.resolve("cells.json"), CellsJson.of(report).toPrettyString() + "\n");
      Files.writeString(out.resolve("cells.csv"), CellsCsv.of(report.cells()));
      Path page = Files.writeString(out.resolve("report.html"), HtmlPage.of(report));
      int number = 1;
      for (String picture : HtmlPage.pictures(report.cells())) {
        Files.writeString(out.resolve("minutes-" + number++ + ".svg"), picture);
      }
      spec.commandLine().getErr().println("wrote " + page + ", cells.json and cells.csv");
      spec.commandLine().getErr().flush();
    } catch (IOException e) {
      throw CommandException.failed("--out " + out + ": cannot be written: " + e);
    }
  }

  /** Shows progress on a bar, if there is one. */
  private record Shown(@Nullable ProgressBar bar) implements Study.Progress, AutoCloseable {
    @Override
    public void show(long done, long all) {
      if (bar != null) {
        bar.show(done);
      }
    }

    @Override
    public void close() {
      if (bar != null) {
        bar.end();
      }
    }
  }

  /**
   * The flags that say which workload is played.
   *
   * <p>Confined to the main thread.
   */
  private static final class TraceFlags {

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
    Trace read() {
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
  static final class CompareCommand implements WarmpathCommand {

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
}
