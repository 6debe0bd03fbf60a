package dev.warmpath.lab.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.simulator.statistics.Spread;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * One gateway in one cell: medians over the rounds.
 *
 * @param turns of the gateway, at least one
 * @param direct of the replicas themselves, one for each round
 */
record GatewayFigures(List<Turn> turns, Map<Integer, Turn> direct) {

  GatewayFigures {
    turns = List.copyOf(turns);
    direct = Map.copyOf(direct);
    if (turns.isEmpty()) {
      throw new IllegalArgumentException("turns=[]");
    }
  }

  String gateway() {
    return turns.get(0).gateway();
  }

  String cell() {
    return turns.get(0).cell();
  }

  int answered() {
    return turns.stream().mapToInt(Turn::answered).sum();
  }

  int errors() {
    return turns.stream().mapToInt(Turn::errors).sum();
  }

  Map<String, Integer> failures() {
    Map<String, Integer> all = new TreeMap<>();
    turns.forEach(
        turn -> turn.failures().forEach((reason, count) -> all.merge(reason, count, Integer::sum)));
    return all;
  }

  boolean hasCpu() {
    return !Double.isNaN(cpuMicros().median());
  }

  Spread cpuMicros() {
    return spread(Turn::cpuMicrosPerRequest);
  }

  /** Median over the rounds of a percentile, in microseconds. */
  double micros(Function<Turn, Percentiles> of, ToLongFunction<Percentiles> percentile) {
    return spread(turn -> percentile.applyAsLong(of.apply(turn)) / 1e3).median();
  }

  /** Median of what the first byte takes longer than without a gateway in the same round. */
  double addedMicros(ToLongFunction<Percentiles> percentile) {
    return spread(turn -> added(turn, percentile)).median();
  }

  private double added(Turn turn, ToLongFunction<Percentiles> percentile) {
    Turn base = direct.get(turn.round());
    if (base == null) {
      throw new IllegalStateException("round=" + turn.round() + " has no turn without a gateway");
    }
    long with = percentile.applyAsLong(turn.sentToFirstByte());
    long without = percentile.applyAsLong(base.sentToFirstByte());
    return (with - without) / 1e3;
  }

  double busyShare() {
    return Spread.of(turns.stream().mapToDouble(Turn::busyShare).toArray()).median();
  }

  void put(ObjectNode to) {
    to.put("name", gateway()).put("cell", cell()).put("n", answered()).put("errors", errors());
    if (hasCpu()) {
      cpuMicros().put(to, "cpuMicrosPerRequest");
    } else {
      to.putNull("cpuMicrosPerRequest");
    }
    ObjectNode added = to.putObject("addedFirstByteMicros");
    Spread.put(added, "p50", addedMicros(Percentiles::p50));
    Spread.put(added, "p99", addedMicros(Percentiles::p99));
    put(to, "firstByteMicros", Turn::sentToFirstByte);
    put(to, "dueToFirstByteMicros", Turn::dueToFirstByte);
    put(to, "dueToLastByteMicros", Turn::dueToLastByte);
    put(to, "dueToSentMicros", Turn::dueToSent);
    to.put("busyShare", Math.round(busyShare() * 100) / 100.0);
    ObjectNode reasons = to.putObject("errorReasons");
    failures().forEach(reasons::put);
  }

  private void put(ObjectNode to, String name, Function<Turn, Percentiles> of) {
    ObjectNode micros = to.putObject(name);
    Spread.put(micros, "p50", micros(of, Percentiles::p50));
    Spread.put(micros, "p99", micros(of, Percentiles::p99));
  }

  /** Over the rounds with answers. */
  private Spread spread(ToDoubleFunction<Turn> of) {
    return Spread.of(turns.stream().filter(turn -> turn.answered() > 0).mapToDouble(of).toArray());
  }
}
