package dev.warmpath.simulator.engine;

import java.util.Locale;

/**
 * How long an engine takes to load from host memory, one request after another.
 *
 * @param fixedMillis of each load, whatever its size
 * @param microsPerToken of each token that it loads
 */
public record LoadPath(double fixedMillis, double microsPerToken) {

  /** 150 kB a token, as of an 8B-like model, over 30 GB/s of PCIe. */
  public static final LoadPath PCIE = new LoadPath(2, 5);

  private static final double MOST = 1e6;

  public LoadPath {
    if (!(fixedMillis >= 0 && fixedMillis <= MOST)
        || !(microsPerToken >= 0 && microsPerToken <= MOST)) {
      throw new IllegalArgumentException(
          "fixedMillis=%s microsPerToken=%s".formatted(fixedMillis, microsPerToken));
    }
  }

  /** One written as {@code MS:US}. */
  public static LoadPath parse(String text) {
    String[] parts = text.split(":", -1);
    if (parts.length != 2) {
      throw new IllegalArgumentException("must be MS:US");
    }
    return new LoadPath(Double.parseDouble(parts[0]), Double.parseDouble(parts[1]));
  }

  long nanos(int tokens) {
    return Math.round(1e6 * fixedMillis + 1e3 * microsPerToken * tokens);
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%.3g ms + %.3g µs a token", fixedMillis, microsPerToken);
  }
}
