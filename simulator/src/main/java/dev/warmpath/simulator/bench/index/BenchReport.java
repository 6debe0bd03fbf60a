package dev.warmpath.simulator.bench.index;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.bench.corpus.Corpus;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * The figures of all rounds, and their medians.
 *
 * <p>Immutable.
 */
public record BenchReport(
    IndexChoice index,
    Corpus corpus,
    List<Round> rounds,
    MemoryPass.Figures memory,
    double nanosPerReading) {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  public BenchReport {
    rounds = List.copyOf(rounds);
  }

  /** Whether every answer of every round was as it should be. */
  public boolean exact() {
    return rounds.stream().allMatch(Round::exact);
  }

  public double blocksPerSecond() {
    return median(round -> round.bulk().perWallSecond(corpus.eventBlocks()));
  }

  public double blocksPerCpuSecond() {
    return median(round -> round.bulk().perCpuSecond(corpus.eventBlocks()));
  }

  public double blocksPerProcessCpuSecond() {
    return median(round -> round.bulk().perProcessCpuSecond(corpus.eventBlocks()));
  }

  public Percentiles atEnd() {
    return medians(Round::atEnd);
  }

  public Percentiles interleaved() {
    return medians(Round::interleaved);
  }

  public double bytesPerMembership() {
    return (double) memory.heapBytes() / Math.max(1, corpus.answers().memberships());
  }

  /** The report as one JSON object. */
  public ObjectNode json() {
    ObjectNode json = MAPPER.createObjectNode();
    json.put("exact", exact());
    json.put("blocksPerSecond", Math.round(blocksPerSecond()));
    json.put("blocksPerCpuSecond", Math.round(blocksPerCpuSecond()));
    json.put("blocksPerProcessCpuSecond", Math.round(blocksPerProcessCpuSecond()));
    json.set("queryFinalNanos", json(atEnd()));
    json.set("queryInterleavedNanos", json(interleaved()));
    json.put("bytesPerMembership", rounded(bytesPerMembership()));
    json.put("allocatedBytesPerEvent", rounded(memory.bytesPerEvent()));
    json.put("allocatedBytesPerQuery", rounded(memory.bytesPerQuery()));
    putFacts(json);
    rounds.forEach(json.putArray("rounds")::addPOJO);
    return json;
  }

  /** Prints the report for people. */
  public void print(PrintWriter out) {
    out.printf("%s on %s: %s%n", index, corpus.name(), exact() ? "exact" : "NOT EXACT, see above");
    for (Round round : rounds) {
      out.printf(
          "  %6.2f M blocks/s  %6.2f M blocks/CPU s  final %s  interleaved %s%n",
          round.bulk().perWallSecond(corpus.eventBlocks()) / 1e6,
          round.bulk().perCpuSecond(corpus.eventBlocks()) / 1e6,
          text(round.atEnd()),
          text(round.interleaved()));
    }
    out.printf(
        "median %.2f M blocks/s, %.2f M blocks/CPU s (%.2f with all threads)%n",
        blocksPerSecond() / 1e6, blocksPerCpuSecond() / 1e6, blocksPerProcessCpuSecond() / 1e6);
    out.printf("  final %s  interleaved %s%n", text(atEnd()), text(interleaved()));
    out.printf(
        "  %.1f bytes/membership; allocated %.1f bytes/event, %.1f bytes/query%n",
        bytesPerMembership(), memory.bytesPerEvent(), memory.bytesPerQuery());
    out.flush();
  }

  private void putFacts(ObjectNode json) {
    json.put("corpus", corpus.name());
    json.put("index", index.name().toLowerCase(java.util.Locale.ROOT));
    json.put("workers", corpus.workers());
    json.put("events", corpus.events());
    json.put("eventBlocks", corpus.eventBlocks());
    json.put("queries", corpus.queries());
    json.put("queryBlocks", corpus.queryBlocks());
    json.put("memberships", corpus.answers().memberships());
    json.put("java", System.getProperty("java.vm.version"));
    json.put("nanosPerClockReading", rounded(nanosPerReading));
  }

  private double median(ToDoubleFunction<Round> of) {
    double[] sorted = rounds.stream().mapToDouble(of).sorted().toArray();
    return sorted[sorted.length / 2];
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

  private static String text(Percentiles nanos) {
    return "%,d / %,d / %,d ns".formatted(nanos.p50(), nanos.p99(), nanos.p999());
  }

  private static double rounded(double value) {
    return Math.round(value * 100) / 100.0;
  }
}
