package dev.warmpath.lab.index;

import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.simulator.statistics.Spread;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

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
