package dev.warmpath.simulator.bench.beside;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.bench.index.BenchReport;
import dev.warmpath.simulator.statistics.Percentiles;
import dev.warmpath.simulator.statistics.Spread;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * All rounds of the peers beside ours, and the ratios of the medians: ours divided by theirs.
 *
 * <p>Immutable.
 *
 * @param ours the report of our own rounds
 */
public record Comparison(BenchReport ours, List<Peer> peers, List<BesideRound> rounds) {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String LINE = "%-8s%-8s%8s%8s%24s%24s%8s%n";

  public Comparison {
    peers = List.copyOf(peers);
    rounds = List.copyOf(rounds);
  }

  /** Rounds and ratios as one JSON object. */
  public ObjectNode json() {
    ObjectNode json = MAPPER.createObjectNode();
    ArrayNode lines = json.putArray("rounds");
    for (BesideRound round : rounds) {
      ObjectNode line = lines.addObject().putPOJO("ours", round.ours());
      for (int peer = 0; peer < peers.size(); peer++) {
        line.putPOJO(peers.get(peer).name(), round.peers().get(peer));
      }
    }
    ObjectNode ratios = json.putObject("ratios");
    for (int peer = 0; peer < peers.size(); peer++) {
      ObjectNode of = ratios.putObject(peers.get(peer).name());
      ratios(peer).forEach((name, ratio) -> of.put(name, Math.round(ratio * 1000) / 1000.0));
    }
    return json;
  }

  /** Prints all rounds of the peers and the ratios for people. */
  public void print(PrintWriter out) {
    out.printf("%n" + LINE, "round", "peer", "/s", "/s cpu", "final", "interleaved", "B/mem");
    for (int i = 0; i < rounds.size(); i++) {
      for (int peer = 0; peer < peers.size(); peer++) {
        print(out, i + 1, peers.get(peer).name(), rounds.get(i).peers().get(peer));
      }
    }
    for (int peer = 0; peer < peers.size(); peer++) {
      out.printf("%nours / %s, medians:%n", peers.get(peer).name());
      ratios(peer).forEach((name, ratio) -> out.printf("  %-24s%8.3f%n", name, ratio));
    }
    out.flush();
  }

  private static void print(PrintWriter out, int round, String name, PeerFigures figures) {
    out.printf(
        LINE,
        round,
        figures.exact() ? name : name + " (not exact)",
        "%.2f".formatted(figures.blocksPerSecond() / 1e6),
        "%.2f".formatted(figures.blocksPerCpuSecond() / 1e6),
        figures.queryFinalNanos().micros(),
        figures.queryInterleavedNanos().micros(),
        "%.1f".formatted(figures.bytesPerMembership()));
  }

  private Map<String, Double> ratios(int peer) {
    Percentiles atEnd = times(peer, PeerFigures::queryFinalNanos);
    Percentiles between = times(peer, PeerFigures::queryInterleavedNanos);
    Map<String, Double> ratios = new LinkedHashMap<>();
    ratios.put(
        "blocksPerCpuSecond",
        ours.blocksPerCpuSecond() / median(peer, PeerFigures::blocksPerCpuSecond));
    ratios.put("queryFinalP50", ratio(ours.atEnd().p50(), atEnd.p50()));
    ratios.put("queryFinalP99", ratio(ours.atEnd().p99(), atEnd.p99()));
    ratios.put("queryInterleavedP50", ratio(ours.interleaved().p50(), between.p50()));
    ratios.put("queryInterleavedP99", ratio(ours.interleaved().p99(), between.p99()));
    ratios.put(
        "bytesPerMembership",
        ours.bytesPerMembership() / median(peer, PeerFigures::bytesPerMembership));
    return ratios;
  }

  private static double ratio(long ours, long theirs) {
    return (double) ours / Math.max(1, theirs);
  }

  private double median(int peer, ToDoubleFunction<PeerFigures> of) {
    return Spread.of(
            rounds.stream()
                .mapToDouble(round -> of.applyAsDouble(round.peers().get(peer)))
                .toArray())
        .median();
  }

  private Percentiles times(int peer, Function<PeerFigures, Percentiles> of) {
    return Percentiles.median(
        rounds.stream().map(round -> of.apply(round.peers().get(peer))).toList());
  }
}
