package dev.warmpath.lab.index;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.index.ChurnBench.Interval;
import dev.warmpath.lab.index.ReconnectBench.Times;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath bench churn}: keeps an index at its byte budget.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "churn",
    description = {
      "Engines that hold more than the index may take store and evict without end. Ends with 1"
          + " when",
      "the index took more bytes than it may, or credited more than an engine holds."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  warmpath bench churn --intervals 20 --seconds 30"})
public final class BenchChurnCommand implements WarmpathCommand {

  private static final long BYTES_PER_MB = 1 << 20;

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Option(names = "--intervals", defaultValue = "5", description = "How many (${DEFAULT-VALUE}).")
  private int intervals;

  @Option(
      names = "--seconds",
      defaultValue = "2",
      description = "How long each (${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--memory-mb",
      defaultValue = "32",
      description = "Budget of the index (${DEFAULT-VALUE}).")
  private int memoryMb;

  @Option(names = "--engines", defaultValue = "16", description = "Engines (${DEFAULT-VALUE}).")
  private int engines;

  @Option(
      names = "--engine-blocks",
      defaultValue = "131072",
      description = "Blocks that each holds (${DEFAULT-VALUE}).")
  private int engineBlocks;

  @Option(
      names = "--reconnects",
      defaultValue = "0",
      description = {
        "Instead: engines that all hold the same prompts reconnect one after another, so many"
            + " times.",
        "Ends with 1 when one write keeps the writer longer than --pause-ms of CPU time."
      })
  private int reconnects;

  @Option(
      names = "--pause-ms",
      defaultValue = "50",
      description = "Longest write with --reconnects (${DEFAULT-VALUE}).")
  private int pauseMs;

  @Option(names = "--json", description = "Print one JSON object; prose goes to stderr.")
  private boolean json;

  @Override
  public Integer call() {
    if (Math.min(Math.min(intervals, seconds), Math.min(memoryMb, engines)) < 1) {
      throw CommandException.usage("all numbers must be at least 1");
    }
    PrintWriter prose = json ? spec.commandLine().getErr() : spec.commandLine().getOut();
    var plan = new ChurnBench.Plan(memoryMb * BYTES_PER_MB, engines, engineBlocks);
    if (reconnects > 0) {
      return reconnect(plan, prose);
    }
    List<Interval> all =
        new ChurnBench(plan, System::nanoTime)
            .run(intervals, TimeUnit.SECONDS.toNanos(seconds), interval -> print(prose, interval));
    if (json) {
      spec.commandLine().getOut().println(report(all));
    }
    boolean kept =
        all.stream()
            .allMatch(i -> i.totals().bytes() <= i.totals().maxBytes() && i.overCredits() == 0);
    return kept ? Exit.OK : Exit.FAILED;
  }

  private int reconnect(ChurnBench.Plan plan, PrintWriter prose) {
    ReconnectBench.Result result = new ReconnectBench(plan, System::nanoTime).run(reconnects);
    ObjectNode root = new ObjectMapper().createObjectNode();
    root.put("engines", engines)
        .put("copies", result.copies())
        .put("bytes", result.totals().bytes())
        .put("evictedBlocks", result.totals().evictedBlocks())
        .put("overCredits", result.overCredits());
    ObjectNode writes = root.putObject("writes");
    long longest = 0;
    for (var kind : result.times().entrySet()) {
      long[] cpu = kind.getValue().cpuNanos();
      longest = Math.max(longest, Times.quantile(cpu, 1));
      String name = kind.getKey().name().toLowerCase(Locale.ROOT);
      put(writes.putObject(name).put("n", cpu.length), "cpuMs", cpu);
      put((ObjectNode) writes.get(name), "ms", kind.getValue().nanos());
      prose.printf(
          "%-14s n %,9d   CPU ms p50 %.3f, p99 %.3f, longest %.3f   wall ms longest %.3f%n",
          name,
          cpu.length,
          Times.quantile(cpu, .5) / 1e6,
          Times.quantile(cpu, .99) / 1e6,
          Times.quantile(cpu, 1) / 1e6,
          Times.quantile(kind.getValue().nanos(), 1) / 1e6);
    }
    prose.printf(
        "%d engines, %,d copies, %,d bytes, %,d evicted, %d over%n",
        engines,
        result.copies(),
        result.totals().bytes(),
        result.totals().evictedBlocks(),
        result.overCredits());
    prose.flush();
    if (json) {
      spec.commandLine().getOut().println(root);
    }
    boolean kept = longest <= TimeUnit.MILLISECONDS.toNanos(pauseMs) && result.overCredits() == 0;
    return kept ? Exit.OK : Exit.FAILED;
  }

  private static void put(ObjectNode to, String name, long[] sorted) {
    to.putObject(name)
        .put("p50", Times.quantile(sorted, .5) / 1e6)
        .put("p99", Times.quantile(sorted, .99) / 1e6)
        .put("longest", Times.quantile(sorted, 1) / 1e6);
  }

  private static void print(PrintWriter to, Interval interval) {
    to.printf(
        "%6.2f M blocks/CPU s  %,d of %,d bytes  %,d live heap  %,d evicted  %d over%n",
        interval.blocksPerCpuSecond() / 1e6,
        interval.totals().bytes(),
        interval.totals().maxBytes(),
        interval.liveHeapBytes(),
        interval.totals().evictedBlocks(),
        interval.overCredits());
    to.flush();
  }

  private static ObjectNode report(List<Interval> all) {
    ObjectNode root = new ObjectMapper().createObjectNode();
    ArrayNode list = root.putArray("intervals");
    for (Interval interval : all) {
      list.addObject()
          .put("blocksPerCpuSecond", interval.blocksPerCpuSecond())
          .put("bytes", interval.totals().bytes())
          .put("maxBytes", interval.totals().maxBytes())
          .put("liveHeapBytes", interval.liveHeapBytes())
          .put("evictedBlocks", interval.totals().evictedBlocks())
          .put("overCredits", interval.overCredits());
    }
    return root;
  }
}
