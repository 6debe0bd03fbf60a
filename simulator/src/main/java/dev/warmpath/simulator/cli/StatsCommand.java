package dev.warmpath.simulator.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureOpener;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.simulator.capture.CaptureStats;
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
 * {@code warmpath replay stats}: counts what captures hold.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "stats",
    description = "Counts what captures hold, stream by stream.",
    mixinStandardHelpOptions = true,
    footer = {"", "Example: warmpath replay stats --json a.wpc.gz"})
final class StatsCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @SuppressWarnings("NullAway.Init")
  @Parameters(paramLabel = "FILE", arity = "1..*", description = "Capture files.")
  private List<Path> files;

  @Option(names = "--json", description = "Print one JSON object instead of text.")
  private boolean json;

  @Mixin private final ProgressFlag progress = new ProgressFlag();

  @Override
  public Integer call() throws JsonProcessingException {
    List<Map<String, Object>> streams = new ArrayList<>();
    try (ReadingProgress reading = progress.of(files, 1)) {
      for (Path file : files) {
        streams.addAll(read(file, reading));
      }
    }
    PrintWriter out = spec.commandLine().getOut();
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
