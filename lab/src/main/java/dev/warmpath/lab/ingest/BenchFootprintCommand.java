package dev.warmpath.lab.ingest;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code warmpath bench footprint}: measures what the parts of a router take of memory.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "footprint",
    description = {
      "Reads the resident memory of a router part by part: with one engine and the embedded",
      "tokenizer (alone), with the tokenizer that is asked for, with all engines,",
      "with their blocks, and with request bodies on their way. WARMPATH_JAVA_OPTS holds for the",
      "router, not for the bench."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Example:",
      "  warmpath bench footprint --engines 64 --blocks 40000 --tokenizer DIR --json"
    })
public final class BenchFootprintCommand implements WarmpathCommand {

  @Option(names = "--engines", defaultValue = "8", description = "Engines (${DEFAULT-VALUE}).")
  private int engines;

  @Option(
      names = "--blocks",
      defaultValue = "40000",
      description = "Blocks that each engine holds (${DEFAULT-VALUE}).")
  private int blocks;

  @Option(
      names = "--bodies-mib",
      defaultValue = "64",
      description = "Request bodies on their way at once (${DEFAULT-VALUE}); 0: none.")
  private int bodiesMib;

  @Option(
      names = "--settle",
      paramLabel = "SECONDS",
      defaultValue = "20",
      description = "Without work before each reading (${DEFAULT-VALUE}).")
  private int settleSeconds;

  @Option(
      names = "--tokenizer",
      paramLabel = "DIR",
      defaultValue = "embedded",
      description = "The router's tokenizer (${DEFAULT-VALUE}).")
  private String tokenizer = "embedded";

  @Mixin private BenchOutput output = new BenchOutput();

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<FootprintBench.Part> parts =
        new FootprintBench(plan(), output.directory("warmpath-footprint"), output::progress).run();
    output.report(table -> print(table, parts), json(parts));
    return Exit.OK;
  }

  private FootprintBench.Plan plan() {
    try {
      return new FootprintBench.Plan(tokenizer, engines, blocks, bodiesMib, settleSeconds);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private static void print(PrintWriter table, List<FootprintBench.Part> parts) {
    table.printf("%-10s %12s %8s %8s%n", "with", "blocks", "RSS MiB", "threads");
    for (FootprintBench.Part part : parts) {
      table.printf(
          "%-10s %,12d %8.0f %8d%n",
          part.name(), part.blocks(), part.footprint().residentMib(), part.footprint().threads());
    }
    table.flush();
  }

  private ObjectNode json(List<FootprintBench.Part> parts) {
    ObjectNode root =
        new ObjectMapper().createObjectNode().put("engines", engines).put("bodiesMib", bodiesMib);
    ArrayNode list = root.putArray("parts");
    for (FootprintBench.Part part : parts) {
      list.addObject()
          .put("name", part.name())
          .put("blocks", part.blocks())
          .put("residentMib", Math.round(part.footprint().residentMib()))
          .put("threads", part.footprint().threads());
    }
    return root;
  }
}
