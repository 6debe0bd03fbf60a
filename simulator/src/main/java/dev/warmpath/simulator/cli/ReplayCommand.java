package dev.warmpath.simulator.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureOpener;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.capture.CaptureCut;
import dev.warmpath.simulator.capture.CaptureDiff;
import dev.warmpath.simulator.capture.CaptureDiff.EngineDiff;
import dev.warmpath.simulator.capture.CaptureMerge;
import dev.warmpath.simulator.capture.CaptureStats;
import dev.warmpath.simulator.terminal.DurationText;
import dev.warmpath.simulator.terminal.ProgressFlag;
import dev.warmpath.simulator.terminal.ReadingProgress;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath replay}: what can be done with capture files.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "replay",
    description = "Works with capture files (*.wpc, *.wpc.gz) of engines' event streams.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath replay verify captures/*.wpc.gz --json",
      "  warmpath replay inspect a.wpc.gz --limit 20"
    },
    subcommands = {
      InspectCommand.class,
      VerifyCommand.class,
      PublishCommand.class,
      ReplayCommand.StatsCommand.class,
      ReplayCommand.CutCommand.class,
      ReplayCommand.MergeCommand.class,
      ReplayCommand.DiffCommand.class
    })
public final class ReplayCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return Exit.USAGE;
  }

  /**
   * What commands share that read whole captures.
   *
   * <p>Confined to the main thread.
   */
  abstract static class CaptureTool implements WarmpathCommand {

    @SuppressWarnings("NullAway.Init")
    @Spec
    private CommandSpec spec;

    @Mixin final ProgressFlag progress = new ProgressFlag();

    final PrintWriter out() {
      return spec.commandLine().getOut();
    }
  }

  /**
   * {@code warmpath replay cut}: takes a part out of a capture.
   *
   * <p>Confined to the main thread.
   */
  @Command(
      name = "cut",
      description =
          "Writes a part of a capture to a new file: some time of it, some of its streams.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Example: warmpath replay cut a.wpc.gz part.wpc.gz --from 30s --to 90s --stream 0"
      })
  static final class CutCommand extends CaptureTool {

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

    @Override
    public Integer call() {
      double end = to == null ? Double.POSITIVE_INFINITY : to.toNanos() / 1e9;
      double begin = from.toNanos() / 1e9;
      if (begin > end) {
        throw CommandException.usage("--from is behind --to");
      }
      CaptureCut cut = new CaptureCut(begin, end, Set.copyOf(streams));
      out().println("kept " + write(cut) + " records in " + out);
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

  /**
   * {@code warmpath replay diff}: compares what two captures heard.
   *
   * <p>Confined to the main thread.
   */
  @Command(
      name = "diff",
      description = {
        "Compares the live messages of two captures, engine by engine, by number and bytes.",
        "Ends with 1 when they differ."
      },
      mixinStandardHelpOptions = true,
      footer = {"", "Example: warmpath replay diff a.wpc.gz b.wpc.gz"})
  static final class DiffCommand extends CaptureTool {

    @SuppressWarnings("NullAway.Init")
    @Parameters(index = "0", paramLabel = "FILE", description = "A capture file.")
    private Path first;

    @SuppressWarnings("NullAway.Init")
    @Parameters(index = "1", paramLabel = "OTHER", description = "Another one.")
    private Path second;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    @Override
    public Integer call() throws JsonProcessingException {
      List<EngineDiff> diffs = diffs();
      PrintWriter out = out();
      if (json) {
        out.println(new ObjectMapper().writeValueAsString(Map.of("engines", diffs)));
      } else {
        diffs.forEach(diff -> out.println(line(diff)));
      }
      return diffs.stream().allMatch(EngineDiff::isSame) ? Exit.OK : Exit.FAILED;
    }

    private List<EngineDiff> diffs() {
      try (ReadingProgress reading = progress.of(List.of(first, second), 1)) {
        return CaptureDiff.of(first, second, reading);
      } catch (IOException e) {
        throw CaptureFiles.failure(first, e);
      }
    }

    private static String line(EngineDiff diff) {
      String counts =
          "%s: %d the same, %d only in the first, %d only in the second, %d different"
              .formatted(
                  diff.engine(),
                  diff.same(),
                  diff.onlyFirst(),
                  diff.onlySecond(),
                  diff.different());
      return diff.isSame() ? counts : counts + "; first at message " + diff.firstDifference();
    }
  }

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
  static final class MergeCommand extends CaptureTool {

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

    @Override
    public Integer call() {
      out().println("wrote " + write() + " records to " + out);
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

  /**
   * {@code warmpath replay stats}: counts what captures hold.
   *
   * <p>Confined to the main thread.
   */
  @Command(
      name = "stats",
      description = "Counts what captures hold, stream by stream.",
      mixinStandardHelpOptions = true,
      footer = {"", "Example: warmpath replay stats --json a.wpc.gz"})
  static final class StatsCommand extends CaptureTool {

    @SuppressWarnings("NullAway.Init")
    @Parameters(paramLabel = "FILE", arity = "1..*", description = "Capture files.")
    private List<Path> files;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    @Override
    public Integer call() throws JsonProcessingException {
      List<Map<String, Object>> streams = new ArrayList<>();
      try (ReadingProgress reading = progress.of(files, 1)) {
        for (Path file : files) {
          streams.addAll(read(file, reading));
        }
      }
      PrintWriter out = out();
      if (json) {
        out.println(new ObjectMapper().writeValueAsString(Map.of("streams", streams)));
      } else {
        streams.forEach(stream -> say(stream, out));
        if (streams.isEmpty()) {
          out.println("no streams");
        }
      }
      return Exit.OK;
    }

    private static void say(Map<String, Object> stream, PrintWriter out) {
      out.println(stream.get("file") + " " + stream.get("engine") + ":");
      stream.forEach((name, value) -> {
        if (!name.equals("file") && !name.equals("engine")) {
          out.printf("  %-30s %s%n", name, value);
        }
      });
    }

    private static List<Map<String, Object>> read(Path file, CaptureOpener opener) {
      try (CaptureReader reader = opener.open(file)) {
        return read(file, reader);
      } catch (IOException e) {
        throw CaptureFiles.failure(file, e);
      }
    }

    private static List<Map<String, Object>> read(Path file, CaptureReader reader)
        throws IOException {
      Map<Integer, CaptureStats> stats = new LinkedHashMap<>();
      reader.header().streams().forEach(stream -> stats.put(stream.id(), new CaptureStats()));
      CaptureRecord record = reader.next();
      while (record != null) {
        CaptureStats of = stats.get(record.stream());
        if (of != null) {
          of.add(record);
        }
        record = reader.next();
      }
      List<Map<String, Object>> streams = new ArrayList<>();
      for (CaptureStream stream : reader.header().streams()) {
        Map<String, Object> fields = new LinkedHashMap<>();
        CaptureStats of = stats.getOrDefault(stream.id(), new CaptureStats());
        fields.put("file", file.toString());
        fields.put("engine", stream.replica() + "/" + stream.dpRank());
        fields.put("seconds", Math.round(1000 * of.seconds()) / 1000.0);
        fields.putAll(of.counts());
        fields.put("truncated", reader.truncated());
        streams.add(fields);
      }
      return streams;
    }
  }
}
