package dev.warmpath.lab.ingest;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.ingest.IngestBench.PassResult;
import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Stream;

/**
 * What was measured, medians over the rounds.
 *
 * @param filling in process, with caches that are not full yet
 */
record IngestReport(
    int engines,
    List<PassResult> inProcess,
    List<PassResult> filling,
    List<PassResult> zmq,
    Paced paced) {

  /**
   * The passes at half of the rate of {@code zmq}, or at the rate that was asked for.
   *
   * @param probes stores that were watched, in all passes together
   * @param visibleMicrosP99 from the moment at which a store was due until the index answers with
   *     it
   * @param sentMicrosP99 from the moment at which a batch was due until it was sent: the part of
   *     the wait that is the machine's own, before any of the code measured
   */
  record Paced(
      List<PassResult> took,
      long probes,
      double visibleMicrosP50,
      double visibleMicrosP99,
      double sentMicrosP99) {}

  /** Whether in all passes the index held what the engines held, and answered the probes. */
  boolean exact() {
    return Stream.of(inProcess, filling, zmq, paced.took())
        .flatMap(List::stream)
        .allMatch(PassResult::exact);
  }

  void print(PrintWriter to) {
    to.printf("%-12s %16s %18s%n", "", "event blocks/s", "a CPU second");
    line(to, "in process", inProcess);
    line(to, "  filling", filling);
    line(to, "zmq", zmq);
    to.printf(
        "at %.2f M/s: event to visible p50 %.0f us, p99 %.0f us (n = %d); sent late p99 %.0f us%n",
        pacedBlocksPerSecond() / 1e6,
        paced.visibleMicrosP50(),
        paced.visibleMicrosP99(),
        paced.probes(),
        paced.sentMicrosP99());
    to.flush();
  }

  ObjectNode json() {
    ObjectNode root = new ObjectMapper().createObjectNode();
    put(root.putObject("inProcess"), inProcess);
    put(root.putObject("filling"), filling);
    put(root.putObject("zmq"), zmq)
        .put("eventToVisibleMicrosP99", Math.round(paced.visibleMicrosP99()))
        .put("eventToVisibleMicrosP50", Math.round(paced.visibleMicrosP50()))
        .put("eventToVisibleCount", paced.probes())
        .put("dueToSentMicrosP99", Math.round(paced.sentMicrosP99()))
        .put("pacedEventBlocksPerSecond", Math.round(pacedBlocksPerSecond()));
    return root.put("engines", engines).put("exact", exact());
  }

  private double pacedBlocksPerSecond() {
    return PassResult.median(paced.took(), PassResult::blocksPerSecond);
  }

  private static ObjectNode put(ObjectNode to, List<PassResult> rounds) {
    return to.put(
            "eventBlocksPerSecond",
            Math.round(PassResult.median(rounds, PassResult::blocksPerSecond)))
        .put(
            "eventBlocksPerCpuSecond",
            Math.round(PassResult.median(rounds, PassResult::blocksPerCpuSecond)));
  }

  private static void line(PrintWriter to, String what, List<PassResult> rounds) {
    to.printf(
        "%-12s %,16.0f %,18.0f%n",
        what,
        PassResult.median(rounds, PassResult::blocksPerSecond),
        PassResult.median(rounds, PassResult::blocksPerCpuSecond));
  }
}
