package dev.warmpath.simulator.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.capture.CaptureVerifier;
import dev.warmpath.simulator.capture.CaptureVerifier.Rehearsal;
import dev.warmpath.simulator.capture.CaptureVerifier.VerifyReport.Verdicts;
import dev.warmpath.simulator.terminal.ProgressFlag;
import dev.warmpath.simulator.terminal.ReadingProgress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath replay verify}: applies captures to an index and compares its predictions with
 * what the engines served.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "verify",
    description = {
      "Applies captures to an index and compares what it predicts for each request with the",
      "cached tokens that the engine reported.",
      "Only requests behind a quiescent mark are judged; the others are counted as busy.",
      "With --drop and its like things go wrong on the way, with a replay socket that has all",
      "that was published or, with --no-replay, none. Requests behind a loss that nothing has",
      "shown yet are counted as unseen.",
      "Ends with 1 when a file cannot be read, a judged request was over-predicted, or none could",
      "be judged."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example: warmpath replay verify --json captures/*.wpc.gz"})
final class VerifyCommand implements WarmpathCommand {

  private static final int ORPHANS_KEPT = 1 << 20;

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @SuppressWarnings("NullAway.Init")
  @Parameters(paramLabel = "FILE", arity = "1..*", description = "Capture files.")
  private List<Path> files;

  @Option(
      names = "--json",
      description = "Print one JSON object on the last line of the output; prose goes to stderr.")
  private boolean json;

  @Mixin private final FaultFlags faults = new FaultFlags();

  @Option(
      names = "--no-replay",
      description = "What the flags above take away cannot be asked again.")
  private boolean noReplay;

  @Mixin private final ProgressFlag progress = new ProgressFlag();

  @Override
  public Integer call() throws JsonProcessingException {
    List<Map<String, Object>> reports = new ArrayList<>();
    faults.requireNoDelay("a file is read without waiting");
    Rehearsal rehearsal = new Rehearsal(faults.faults(), !noReplay);
    boolean failed = false;
    long judged = 0;
    long requests = 0;
    for (Path file : files) {
      try {
        CaptureVerifier.VerifyReport report = verify(file, rehearsal);
        say(file, report);
        reports.add(fields(file, report));
        failed |= report.judged().over() > 0;
        requests += report.requests();
        judged += report.judged().count() + report.router().count();
      } catch (IOException e) {
        failed = true;
        String problem = String.valueOf(CaptureFiles.failure(file, e).getMessage());
        spec.commandLine().getErr().println(spec.qualifiedName() + ": " + problem);
      }
    }
    if (json) {
      PrintWriter out = spec.commandLine().getOut();
      out.println(new ObjectMapper().writeValueAsString(Map.of("files", reports)));
    }
    if (judged == 0 && !failed) {
      spec.commandLine()
          .getErr()
          .println(spec.qualifiedName() + ": nothing could be judged: " + why(requests));
    }
    return failed || judged == 0 ? Exit.FAILED : Exit.OK;
  }

  private static String why(long requests) {
    return requests == 0
        ? "no file has a request; record them with a router's `capture.dir` and"
            + " `capture.requests: true`"
        : "none of the %d requests has an answer with cached tokens behind a quiescent mark; let the engines be idle for `capture.quiet-ms` now and then"
            .formatted(requests);
  }

  private CaptureVerifier.VerifyReport verify(Path file, Rehearsal rehearsal) throws IOException {
    RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(ORPHANS_KEPT));
    try (ReadingProgress reading = progress.of(List.of(file), CaptureVerifier.PASSES)) {
      return CaptureVerifier.verify(file, index, rehearsal, reading);
    }
  }

  private void say(Path file, CaptureVerifier.VerifyReport report) {
    PrintWriter prose = json ? spec.commandLine().getErr() : spec.commandLine().getOut();
    prose.println(line(file, report));
  }

  private static String line(Path file, CaptureVerifier.VerifyReport report) {
    return "%s: %s, %d events, %d blocks, %d requests: %s; %d skipped%s; busy: %s"
            .formatted(
                file.getFileName(),
                report.engine(),
                report.events(),
                report.blocks(),
                report.requests(),
                text(report.judged()),
                report.skippedRequests(),
                report.skipped().isEmpty() ? "" : " " + report.skipped(),
                text(report.busy()))
        + (report.dropped() == 0
            ? ""
            : "; %d messages dropped, unseen yet: %s"
                .formatted(report.dropped(), text(report.unseen())))
        + (report.router().count() == 0 ? "" : "; the router itself: " + text(report.router()))
        + (report.uncached().isEmpty() ? "" : "; not cached, in tokens: " + report.uncached());
  }

  private static String text(Verdicts verdicts) {
    return "%d exact, %d over, %d under"
        .formatted(verdicts.exact(), verdicts.over(), verdicts.under());
  }

  private static Map<String, Object> fields(Path file, CaptureVerifier.VerifyReport report) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("file", file.toString());
    fields.put("engine", report.engine());
    fields.put("events", report.events());
    fields.put("blocks", report.blocks());
    fields.put("requests", report.requests());
    fields.put("exact", report.judged().exact());
    fields.put("over", report.judged().over());
    fields.put("under", report.judged().under());
    fields.put("skipped", report.skippedRequests());
    fields.put("reasons", report.skipped());
    fields.put("busy", report.busy());
    fields.put("dropped", report.dropped());
    fields.put("unseen", report.unseen());
    fields.put("router", report.router());
    fields.put("uncached", report.uncached());
    return fields;
  }
}
