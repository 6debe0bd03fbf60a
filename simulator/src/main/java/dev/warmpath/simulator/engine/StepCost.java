package dev.warmpath.simulator.engine;

/**
 * How long one engine step takes, in milliseconds.
 *
 * <p>Immutable.
 *
 * @param baseMillis each step
 * @param prefillTokenMillis each prompt token computed
 * @param attentionMillis each pair of a prompt token computed and a context token it attends to
 * @param decodeContextMillis each context token of a sequence that decodes
 */
public record StepCost(
    double baseMillis,
    double prefillTokenMillis,
    double attentionMillis,
    double decodeContextMillis) {

  /** A 70B-like model on four H100. */
  public static final StepCost H100X4 = new StepCost(15, 0.07, 2e-6, 3.4e-5);

  public StepCost {
    if (!(baseMillis >= 0)
        || !(prefillTokenMillis >= 0)
        || !(attentionMillis >= 0)
        || !(decodeContextMillis >= 0)) {
      throw new IllegalArgumentException("negative cost");
    }
  }

  /** The cost of computing {@code tokens} prompt tokens behind {@code contextTokens} others. */
  double prefillMillis(int tokens, int contextTokens) {
    double pairs = tokens * (contextTokens + tokens / 2.0);
    return prefillTokenMillis * tokens + attentionMillis * pairs;
  }

  /** The cost of one more token of a sequence of {@code contextTokens}. */
  double decodeMillis(int contextTokens) {
    return decodeContextMillis * contextTokens;
  }
}
