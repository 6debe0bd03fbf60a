package dev.warmpath.simulator.engine;

import java.util.Locale;

/**
 * How long KV blocks take over a way that brings those of one request after another: to another
 * engine, or from host memory.
 *
 * @param fixedMillis for each request, whatever its size; 0 to 1,000,000
 * @param microsPerToken for each of its tokens; 0 to 1,000,000
 */
public record Link(double fixedMillis, double microsPerToken) {

  /** 150 kB a token, as of an 8B-like model, over 30 GB/s of PCIe. */
  public static final Link PCIE = new Link(2, 5);

  /** It takes no time. */
  public static final Link NONE = new Link(0, 0);

  private static final double MOST = 1e6;

  public Link {
    if (!(fixedMillis >= 0 && fixedMillis <= MOST)
        || !(microsPerToken >= 0 && microsPerToken <= MOST)) {
      throw new IllegalArgumentException(
          "fixedMillis=%s microsPerToken=%s".formatted(fixedMillis, microsPerToken));
    }
  }

  /** One written as {@code MS:US}. */
  public static Link parse(String text) {
    String[] parts = text.split(":", -1);
    if (parts.length != 2) {
      throw new IllegalArgumentException("must be MS:US");
    }
    return new Link(Double.parseDouble(parts[0]), Double.parseDouble(parts[1]));
  }

  long nanos(int tokens) {
    return Math.round(1e6 * fixedMillis + 1e3 * microsPerToken * tokens);
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%.3g ms + %.3g µs a token", fixedMillis, microsPerToken);
  }
}
