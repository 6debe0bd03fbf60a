package dev.warmpath.router.routing;

/**
 * The time an engine needs for a prompt of n tokens of which c are not cached: {@code T(c, n) = a·c
 * + b·c·(n − c/2)}. The first term is the work per token, the second its attention to everything
 * before it.
 *
 * <p>Immutable.
 *
 * @param millisPerToken a
 * @param millisPerTokenPair b, for a token and a token that it attends to
 */
public record PrefillCost(double millisPerToken, double millisPerTokenPair) {

  /** A 70B-like model on four H100: what is assumed until an engine has shown its own speed. */
  public static final PrefillCost DEFAULT = new PrefillCost(0.07, 2e-6);

  public PrefillCost {
    if (!(millisPerToken >= 0 && millisPerToken < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("millisPerToken=" + millisPerToken);
    }
    if (!(millisPerTokenPair >= 0 && millisPerTokenPair < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("millisPerTokenPair=" + millisPerTokenPair);
    }
  }

  /** Milliseconds for {@code uncachedTokens} at the end of a prompt of {@code promptTokens}. */
  public double millis(int uncachedTokens, int promptTokens) {
    return millisPerToken * uncachedTokens
        + millisPerTokenPair * tokenPairs(uncachedTokens, promptTokens);
  }

  /** Pairs of a computed token and a token that it attends to, {@code c·(n − c/2)}. */
  public static double tokenPairs(int uncachedTokens, int promptTokens) {
    return uncachedTokens * (promptTokens - uncachedTokens / 2.0);
  }
}
