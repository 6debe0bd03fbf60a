package dev.warmpath.simulator.bench.beside;

import dev.warmpath.simulator.bench.corpus.Sums;
import dev.warmpath.simulator.statistics.Percentiles;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a peer's program printed, taken apart.
 *
 * <p>Immutable.
 *
 * @param command for messages
 */
record PeerOutput(String command, List<String> lines) {

  private static final Pattern RATES = Pattern.compile("(\\d+) blocks/s wall, (\\d+) blocks/cpu-s");
  private static final Pattern TIMES =
      Pattern.compile("p50 ([0-9.]+) p90 [0-9.]+ p99 ([0-9.]+) p99\\.9 ([0-9.]+) max [0-9.]+ us");
  private static final Pattern SUMS =
      Pattern.compile("sum_scores (\\d+) sum_best (\\d+) nonzero (\\d+)");
  private static final Pattern BYTES = Pattern.compile("live heap \\d+ B = ([0-9.]+) B/membership");

  PeerOutput {
    lines = List.copyOf(lines);
  }

  double blocksPerSecond() throws PeerException {
    return Double.parseDouble(find("events ", RATES).group(1));
  }

  double blocksPerCpuSecond() throws PeerException {
    return Double.parseDouble(find("events ", RATES).group(2));
  }

  /** The query times on the line that begins with {@code prefix}. */
  Percentiles times(String prefix) throws PeerException {
    Matcher times = find(prefix, TIMES);
    return new Percentiles(nanos(times.group(1)), nanos(times.group(2)), nanos(times.group(3)));
  }

  /** The sums of the answers on the line that begins with {@code prefix}. */
  Sums sums(String prefix) throws PeerException {
    Matcher sums = find(prefix, SUMS);
    return new Sums(
        Long.parseLong(sums.group(1)),
        Long.parseLong(sums.group(2)),
        Long.parseLong(sums.group(3)));
  }

  double bytesPerMembership() throws PeerException {
    return Double.parseDouble(find("memberships ", BYTES).group(1));
  }

  private Matcher find(String prefix, Pattern pattern) throws PeerException {
    for (String line : lines) {
      Matcher matcher = pattern.matcher(line);
      if (line.startsWith(prefix) && matcher.find()) {
        return matcher;
      }
    }
    throw new PeerException(
        "%s: no line '%s…' with '%s' in its output: %s"
            .formatted(command, prefix, pattern, lines.subList(0, Math.min(3, lines.size()))));
  }

  private static long nanos(String micros) {
    return Math.round(Double.parseDouble(micros) * 1e3);
  }
}
