package dev.warmpath.router.fleet;

/**
 * The time until KV blocks of another engine can be used: {@code a + b·n} for n tokens.
 *
 * @param fixedMillis a
 * @param millisPerToken b
 */
public record TransferCost(double fixedMillis, double millisPerToken) {

  /**
   * What is assumed until one was seen: some 150 kB a token at 30 GB/s. Mooncake's published
   * figures for 8 × RoCE are 0.5 ms and 1.0 µs a token; TCP takes two to five times as long.
   */
  public static final TransferCost DEFAULT = new TransferCost(5, 0.005);

  /** Milliseconds for so many tokens. */
  public double millis(int tokens) {
    return tokens == 0 ? 0 : fixedMillis + millisPerToken * tokens;
  }
}
