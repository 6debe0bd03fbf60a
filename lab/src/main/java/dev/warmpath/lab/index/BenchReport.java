package dev.warmpath.lab.index;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.index.IndexBench.BulkPass;
import dev.warmpath.lab.index.IndexBench.MemoryPass;
import dev.warmpath.simulator.study.Spread;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** The figures of all rounds, and their medians. */
record BenchReport(
    Corpus corpus, List<Round> rounds, MemoryPass.Figures memory, double nanosPerReading) {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  BenchReport {
    rounds = List.copyOf(rounds);
  }

  /** Whether every answer of every round was as it should be. */
  boolean exact() {
    return rounds.stream().allMatch(Round::exact);
  }

  double blocksPerSecond() {
    return median(round -> round.bulk().perWallSecond(corpus.eventBlocks()));
  }

  double blocksPerCpuSecond() {
    return median(round -> round.bulk().perCpuSecond(corpus.eventBlocks()));
  }

  double blocksPerProcessCpuSecond() {
    return median(round -> round.bulk().perProcessCpuSecond(corpus.eventBlocks()));
  }

  Percentiles atEnd() {
    return medians(Round::atEnd);
  }

  Percentiles interleaved() {
    return medians(Round::interleaved);
  }

  Percentiles busy() {
    return medians(Round::busy);
  }

  /** From an event's arrival until a query finds it, at half of the writer's capacity. */
  Percentiles visible() {
    return medians(round -> round.keepUp().visible());
  }

  double bytesPerMembership() {
    return (double) memory.heapBytes() / Math.max(1, corpus.answers().memberships());
  }

  /** The report as one JSON object. */
  ObjectNode json() {
    ObjectNode json = MAPPER.createObjectNode();
    json.put("exact", exact());
    json.put("blocksPerSecond", Math.round(blocksPerSecond()));
    json.put("blocksPerCpuSecond", Math.round(blocksPerCpuSecond()));
    json.put("blocksPerProcessCpuSecond", Math.round(blocksPerProcessCpuSecond()));
    json.set("queryFinalNanos", json(atEnd()));
    json.set("queryInterleavedNanos", json(interleaved()));
    json.set("queryBusyNanos", json(busy()));
    json.set("queryKeepUpNanos", json(medians(round -> round.keepUp().query())));
    json.put("eventToVisibleMicrosP99", rounded(visible().p99() / 1e3));
    json.put("bytesPerMembership", rounded(bytesPerMembership()));
    memory.accountedBytes().ifPresent(bytes -> json.put("accountedBytes", bytes));
    json.put("allocatedBytesPerEvent", rounded(memory.bytesPerEvent()));
    json.put("allocatedBytesPerQuery", rounded(memory.bytesPerQuery()));
    putFacts(json);
    rounds.forEach(json.putArray("rounds")::addPOJO);
    return json;
  }

  /** Prints the report for people. */
  void print(PrintWriter out) {
    out.printf("%s: %s%n", corpus.name(), exact() ? "exact" : "NOT EXACT");
    out.printf(
        "  %d events of %d blocks on %d engines, %d queries; %d memberships at the end%n%n",
        corpus.events(),
        corpus.eventBlocks(),
        corpus.workers(),
        corpus.queries(),
        corpus.answers().memberships());
    new RoundTable(corpus.eventBlocks()).print(out, rounds);
    out.printf(
        "M blocks a second; s cpu: of the writer's CPU time (median with all threads: %.2f)%n",
        blocksPerProcessCpuSecond() / 1e6);
    out.printf(
        "queries and visibility: p50 / p99 / p99.9 in us, one reading of the clock (%.0f ns) in it%n",
        nanosPerReading);
    memory.accountedBytes().ifPresent(bytes -> out.printf("the index accounts %d bytes%n", bytes));
    out.printf(
        "%.1f bytes/membership; allocated %.1f bytes/event, %.1f bytes/query%n",
        bytesPerMembership(), memory.bytesPerEvent(), memory.bytesPerQuery());
    out.flush();
  }

  private void putFacts(ObjectNode json) {
    json.put("corpus", corpus.name());
    json.put("workers", corpus.workers());
    json.put("events", corpus.events());
    json.put("eventBlocks", corpus.eventBlocks());
    json.put("queries", corpus.queries());
    json.put("queryBlocks", corpus.queryBlocks());
    json.put("memberships", corpus.answers().memberships());
    json.putObject("sums")
        .putPOJO("interleaved", corpus.answers().interleaved())
        .putPOJO("final", corpus.answers().atEnd());
    json.put("java", System.getProperty("java.vm.version"));
    json.put("nanosPerClockReading", rounded(nanosPerReading));
  }

  private double median(ToDoubleFunction<Round> of) {
    return Spread.of(rounds.stream().mapToDouble(of).toArray()).median();
  }

  private Percentiles medians(Function<Round, Percentiles> of) {
    return Percentiles.median(rounds.stream().map(of).toList());
  }

  private static ObjectNode json(Percentiles nanos) {
    return MAPPER
        .createObjectNode()
        .put("p50", nanos.p50())
        .put("p99", nanos.p99())
        .put("p999", nanos.p999());
  }

  private static double rounded(double value) {
    return Math.round(value * 100) / 100.0;
  }

  /**
   * Rounds as the lines of a table, with their medians as the last one.
   *
   * @param eventBlocks blocks in all events of the corpus
   */
  record RoundTable(long eventBlocks) {

    private static final String LINE = "%-8s%8s%8s%24s%24s%24s%26s%n";

    void print(PrintWriter out, List<Round> rounds) {
      out.printf(LINE, "round", "/s", "/s cpu", "final", "interleaved", "busy", "event to visible");
      for (int i = 0; i < rounds.size(); i++) {
        print(out, Integer.toString(i + 1), rounds.subList(i, i + 1));
      }
      print(out, "median", rounds);
    }

    private void print(PrintWriter out, String name, List<Round> rounds) {
      out.printf(
          LINE,
          name,
          millions(rounds, round -> round.bulk().perWallSecond(eventBlocks)),
          millions(rounds, round -> round.bulk().perCpuSecond(eventBlocks)),
          micros(rounds, Round::atEnd),
          micros(rounds, Round::interleaved),
          micros(rounds, Round::busy),
          micros(rounds, round -> round.keepUp().visible()));
    }

    private static String millions(List<Round> rounds, ToDoubleFunction<Round> of) {
      return "%.2f".formatted(Spread.of(rounds.stream().mapToDouble(of).toArray()).median() / 1e6);
    }

    private static String micros(List<Round> rounds, Function<Round, Percentiles> of) {
      return Percentiles.median(rounds.stream().map(of).toList()).micros();
    }
  }

  /**
   * What one round measured, each part on a fresh index.
   *
   * @param exact whether all answers summed up to what they should
   * @param atEnd queries after the last event, on the index that {@code bulk} filled
   * @param interleaved queries between the events
   * @param busy queries while the writer replays at full speed
   * @param keepUp queries and events at half of what the writer can take
   */
  record Round(
      boolean exact,
      BulkPass.Took bulk,
      Percentiles atEnd,
      Percentiles interleaved,
      Percentiles busy,
      KeepUpPass.Seen keepUp) {}
}
