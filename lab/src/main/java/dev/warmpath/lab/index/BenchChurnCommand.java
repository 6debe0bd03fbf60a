package dev.warmpath.lab.index;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.lab.bench.BenchOutput;
import dev.warmpath.lab.index.ChurnBench.Interval;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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

  @Mixin private BenchOutput output = new BenchOutput();

  @Override
  public Integer call() {
    if (Math.min(Math.min(intervals, seconds), Math.min(memoryMb, engines)) < 1) {
      throw CommandException.usage("all numbers must be at least 1");
    }
    PrintWriter prose = output.prose();
    var plan = new ChurnBench.Plan(memoryMb * BYTES_PER_MB, engines, engineBlocks);
    if (reconnects > 0) {
      return reconnect(plan, prose);
    }
    List<Interval> all =
        new ChurnBench(plan, System::nanoTime)
            .run(intervals, TimeUnit.SECONDS.toNanos(seconds), interval -> print(prose, interval));
    output.printJson(report(all));
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
      longest = Math.max(longest, ReconnectBench.Times.quantile(cpu, 1));
      String name = kind.getKey().name().toLowerCase(Locale.ROOT);
      put(writes.putObject(name).put("n", cpu.length), "cpuMs", cpu);
      put((ObjectNode) writes.get(name), "ms", kind.getValue().nanos());
      prose.printf(
          "%-14s n %,9d   CPU ms p50 %.3f, p99 %.3f, longest %.3f   wall ms longest %.3f%n",
          name,
          cpu.length,
          ReconnectBench.Times.quantile(cpu, .5) / 1e6,
          ReconnectBench.Times.quantile(cpu, .99) / 1e6,
          ReconnectBench.Times.quantile(cpu, 1) / 1e6,
          ReconnectBench.Times.quantile(kind.getValue().nanos(), 1) / 1e6);
    }
    prose.printf(
        "%d engines, %,d copies, %,d bytes, %,d evicted, %d over%n",
        engines,
        result.copies(),
        result.totals().bytes(),
        result.totals().evictedBlocks(),
        result.overCredits());
    prose.flush();
    output.printJson(root);
    boolean kept = longest <= TimeUnit.MILLISECONDS.toNanos(pauseMs) && result.overCredits() == 0;
    return kept ? Exit.OK : Exit.FAILED;
  }

  private static void put(ObjectNode to, String name, long[] sorted) {
    to.putObject(name)
        .put("p50", ReconnectBench.Times.quantile(sorted, .5) / 1e6)
        .put("p99", ReconnectBench.Times.quantile(sorted, .99) / 1e6)
        .put("longest", ReconnectBench.Times.quantile(sorted, 1) / 1e6);
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

  /**
   * A large fleet of which one engine after another reconnects: for how long does a single write
   * keep the writer, and so the events of all others?
   *
   * <p>All engines hold the same prompts, so that each prompt has as many holders as there are
   * engines: the longest lists that the index can have.
   *
   * <p>Confined to the measuring thread.
   */
  private static final class ReconnectBench {

    private static final int PROMPT_BLOCKS = 256;

    /** Stored by one event. */
    private static final int EVENT_BLOCKS = 128;

    private static final int ORPHANS_PER_ENGINE = 1 << 10;

    /** What the writer does when an engine reconnects. */
    enum Write {
      /** Events were lost: what is held is suspended. */
      SUSPEND,
      /** Events were lost again: what is held joins what is suspended. */
      SUSPEND_AGAIN,
      /** Another process: what was held is forgotten. */
      CLEAR,
      /** A batch of a replay, or of another engine. */
      STORE,
      /** A block is evicted by its engine. */
      REMOVE
    }

    /**
     * How long the writes of one kind took.
     *
     * @param nanos of each, sorted, by the wall clock
     * @param cpuNanos likewise, of the writer's thread
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared as a record
    record Times(long[] nanos, long[] cpuNanos) {

      /** The duration that a share of the writes did not exceed. */
      static long quantile(long[] sorted, double share) {
        return sorted.length == 0
            ? 0
            : sorted[(int) Math.min(sorted.length - 1, share * sorted.length)];
      }
    }

    /**
     * What came out.
     *
     * @param overCredits prompts that were credited to an engine that holds them no more
     */
    record Result(Map<Write, Times> times, IndexTotals totals, long copies, long overCredits) {}

    private final RunKvIndex index;
    private final int prompts;
    private final int[] slots;
    private final HashNames names = new HashNames(false);
    private final LongSupplier nanoClock;
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Map<Write, Samples> samples = new EnumMap<>(Write.class);
    private final StoredBlocks stored = new StoredBlocks();
    private final RemovedBlocks removed = new RemovedBlocks();
    private final PrefixMatches matches = new PrefixMatches();
    private final SplittableRandom random = new SplittableRandom(1);
    private long overCredits;

    ReconnectBench(ChurnBench.Plan plan, LongSupplier nanoClock) {
      this.nanoClock = nanoClock;
      index = new RunKvIndex(new IndexLimits(ORPHANS_PER_ENGINE, plan.maxBytes()));
      prompts = Math.max(1, plan.engineBlocks() / PROMPT_BLOCKS);
      slots = new int[plan.engines()];
      for (int i = 0; i < slots.length; i++) {
        slots[i] = index.addEngine(CopyCounting.PER_COPY);
        index.layout(slots[i], CorpusShape.SIMPLE.layout());
      }
      for (int prompt = 0; prompt < prompts; prompt++) {
        for (int slot : slots) {
          store(slot, prompt);
        }
      }
    }

    /** Has so many engines reconnect, one after another, in each of the ways that there are. */
    Result run(int reconnects) {
      for (int i = 0; i < reconnects; i++) {
        reconnect(slots[i % slots.length]);
      }
      samples.computeIfAbsent(Write.STORE, kind -> new Samples());
      Map<Write, Times> times = new EnumMap<>(Write.class);
      samples.forEach((kind, sample) -> times.put(kind, sample.times()));
      long copies = 0;
      for (int slot : slots) {
        copies += index.stats(slot).heldBlocks();
      }
      return new Result(times, index.totals(), copies, overCredits);
    }

    private void reconnect(int slot) {
      time(Write.SUSPEND, () -> index.suspended(slot));
      traffic(slot, prompts / 2);
      time(Write.SUSPEND_AGAIN, () -> index.suspended(slot));
      traffic(slot, prompts / 4);
      time(Write.CLEAR, () -> index.cleared(slot));
      isForgotten(slot);
      traffic(slot, prompts);
    }

    /** The engine stores prompts again while others go on. */
    private void traffic(int slot, int count) {
      for (int prompt = 0; prompt < count; prompt++) {
        int again = prompt;
        for (int from = 0; from < PROMPT_BLOCKS; from += EVENT_BLOCKS) {
          event(again, from);
          time(Write.STORE, () -> index.stored(slot, stored));
        }
        if (prompt % 64 == 0) {
          evictAndStore(slots[random.nextInt(slots.length)], random.nextInt(prompts), slot);
        }
      }
    }

    private void evictAndStore(int slot, int prompt, int reconnecting) {
      if (slot == reconnecting) {
        return;
      }
      removed.from(StorageTier.GPU, 0).add(engineHash(prompt, PROMPT_BLOCKS - 1));
      time(Write.REMOVE, () -> index.removed(slot, removed));
      event(prompt, PROMPT_BLOCKS - EVENT_BLOCKS);
      time(Write.STORE, () -> index.stored(slot, stored.ifAbsent()));
    }

    private void isForgotten(int slot) {
      long[] locals = new long[PROMPT_BLOCKS];
      Arrays.setAll(locals, i -> names.localHash(name(0, i)));
      index.match(BlockChain.ofLocalHashes(CorpusShape.SIMPLE.space(), locals), matches);
      overCredits += matches.tokens(slot) > 0 ? 1 : 0;
    }

    private void store(int slot, int prompt) {
      for (int from = 0; from < PROMPT_BLOCKS; from += EVENT_BLOCKS) {
        event(prompt, from);
        index.stored(slot, stored);
      }
    }

    private void event(int prompt, int from) {
      if (from == 0) {
        stored.atRoot(StorageTier.GPU, 0, CorpusShape.SIMPLE.space().rootKey());
      } else {
        stored.behind(StorageTier.GPU, 0, engineHash(prompt, from - 1));
      }
      for (int i = from; i < from + EVENT_BLOCKS; i++) {
        stored.add(engineHash(prompt, i), names.localHash(name(prompt, i)));
      }
    }

    private long engineHash(int prompt, int block) {
      return names.engineHash(0, name(prompt, block));
    }

    private static long name(int prompt, int block) {
      return (long) prompt * PROMPT_BLOCKS + block + 1;
    }

    private void time(Write kind, Runnable write) {
      long cpu = threads.getCurrentThreadCpuTime();
      long began = nanoClock.getAsLong();
      write.run();
      long nanos = nanoClock.getAsLong() - began;
      samples
          .computeIfAbsent(kind, k -> new Samples())
          .add(nanos, threads.getCurrentThreadCpuTime() - cpu);
    }

    /** Durations of writes. */
    private static final class Samples {
      private long[] nanos = new long[64];
      private long[] cpuNanos = new long[64];
      private int count;

      void add(long wall, long cpu) {
        if (count == nanos.length) {
          nanos = Arrays.copyOf(nanos, 2 * count);
          cpuNanos = Arrays.copyOf(cpuNanos, 2 * count);
        }
        nanos[count] = wall;
        cpuNanos[count++] = cpu;
      }

      Times times() {
        return new Times(sorted(nanos), sorted(cpuNanos));
      }

      private long[] sorted(long[] all) {
        long[] sorted = Arrays.copyOf(all, count);
        Arrays.sort(sorted);
        return sorted;
      }
    }
  }
}
