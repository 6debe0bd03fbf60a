package dev.warmpath.lab.bench;

import dev.warmpath.simulator.study.Spread;
import java.util.List;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/** Three percentiles of many measured times. */
public record Percentiles(long p50, long p99, long p999) {

  private static final int DIGITS = 3;

  /** Of the first {@code count} of {@code values}. */
  public static Percentiles of(long[] values, int count) {
    Histogram histogram = new Histogram(DIGITS);
    for (int i = 0; i < count; i++) {
      histogram.recordValue(Math.max(0, values[i]));
    }
    return new Percentiles(
        histogram.getValueAtPercentile(50),
        histogram.getValueAtPercentile(99),
        histogram.getValueAtPercentile(99.9));
  }

  /** The median of each percentile over several rounds. */
  public static Percentiles median(List<Percentiles> rounds) {
    return new Percentiles(
        median(rounds, Percentiles::p50),
        median(rounds, Percentiles::p99),
        median(rounds, Percentiles::p999));
  }

  /** As text, in us. */
  public String micros() {
    return "%s / %s / %s".formatted(micros(p50), micros(p99), micros(p999));
  }

  private static String micros(long nanos) {
    return (nanos < 10_000 ? "%.2f" : "%.0f").formatted(nanos / 1e3);
  }

  private static long median(List<Percentiles> rounds, ToLongFunction<Percentiles> of) {
    return Math.round(Spread.of(rounds.stream().mapToDouble(of::applyAsLong).toArray()).median());
  }
}
